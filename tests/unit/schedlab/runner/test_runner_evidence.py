"""What was waited for in vain is a verdict where it is the scheduler's doing."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.history.history import History
from schedlab.operations.base import NotYet, OperationError, Unmet
from schedlab.runner.evidence import failure_of
from schedlab.suite.plan import PlannedOperation
from schedlab.suite.positions import Position


def planned(tag: str) -> PlannedOperation:
    return PlannedOperation(tag, {}, Position(Path("test.yaml")))


@pytest.mark.parametrize(
    ("tag", "verdict"),
    [
        ("scheduled", True),
        ("leader", True),
        ("pods", True),
        ("scheduler", True),
        ("nodes", False),
        ("delete", False),
    ],
)
def test_who_judges_the_scheduler(tag: str, verdict: bool) -> None:
    """Pods that are not bound and processes that do not end do; machines that do not become Ready do not."""
    error = Unmet(NotYet("a", "b"))
    assert failure_of(error, "s", planned(tag), History()).assertion is verdict


def test_an_operation_that_could_not_be_done_is_no_verdict() -> None:
    """Whatever its kind."""
    failure = failure_of(OperationError("no", hint="yes"), "s", planned("scheduled"), History())
    assert not failure.assertion
    assert failure.message == "no\nyes"
