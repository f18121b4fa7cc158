"""Without its plugin a test must fail at an assertion; else it is not good enough."""

from __future__ import annotations

import msgspec
import pytest

from schedlab.runner.result import Failure, Result
from schedlab.runner.sensitivity import turned

RUN = Result(test="a/t", path="p", scheduler="s", verdict="fail", plugin="NodeAffinity")
AT_ASSERTION = Failure(message="expected x; seen: y", operation="scheduled", assertion=True)
BEFORE = Failure(message="no such file", operation="apply")


@pytest.mark.parametrize(
    ("verdict", "failure", "expected", "reason"),
    [
        (
            "fail",
            AT_ASSERTION,
            "pass",
            "sensitive: without NodeAffinity it fails at scheduled: expected x; seen: y",
        ),
        ("pass", None, "fail", "insensitive: it passes without NodeAffinity"),
        (
            "fail",
            BEFORE,
            "inconclusive",
            "unclear: without NodeAffinity it does not get as far as an assertion",
        ),
        ("inconclusive", None, "inconclusive", "unclear"),
    ],
    ids=[
        "it fails at an assertion",
        "it passes",
        "it fails before any assertion",
        "the scheduler does not start",
    ],
)
def test_verdicts_are_turned(verdict: str, failure: Failure | None, expected: str, reason: str) -> None:
    """Failing is passing, and passing is failing."""
    result = turned(msgspec.structs.replace(RUN, verdict=verdict, failure=failure))
    assert result.verdict == expected
    assert result.reason.startswith(reason)
