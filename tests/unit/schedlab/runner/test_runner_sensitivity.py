"""Without its plugin a test must fail at an assertion; else it is not good enough."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from schedlab.runner.result import Failure, Result
from schedlab.runner.sensitivity import Mutant, mutant, turned
from schedlab.suite.loader import load

RUN = Result(test="a/t", path="p", scheduler="s", verdict="fail", mutation="without NodeAffinity")
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


def test_a_test_is_run_without_its_plugin(tmp_path: Path) -> None:
    """The label is the short form of a mutation."""
    test = load(write(tmp_path, labels="{plugin: NodeAffinity}"))
    assert mutant(test) == Mutant(test, "without NodeAffinity", ("NodeAffinity",))


def test_the_mutation_of_a_test_wins_over_its_plugin(tmp_path: Path) -> None:
    """The plugin stays enabled then."""
    test = load(
        write(tmp_path, labels="{plugin: NodeAffinity}", more="mutation: {name: no step, without: [a]}")
    )
    found = mutant(test)
    assert found is not None
    assert (found.title, found.disabled) == ("with no step", ())
    assert [step.name for step in found.test.steps] == ["b"]


def test_a_test_that_names_neither_has_no_mutant(tmp_path: Path) -> None:
    """Sensitivity runs leave it out."""
    assert mutant(load(write(tmp_path))) is None


def write(folder: Path, labels: str = "{}", more: str = "") -> Path:
    path = folder / "test.yaml"
    path.write_text(
        f"""\
apiVersion: schedlab/v1alpha1
kind: Test
metadata: {{name: t, labels: {labels}}}
spec:
  {more}
  steps: [{{name: a, try: [{{events: {{}}}}]}}, {{name: b, try: [{{events: {{}}}}]}}]
"""
    )
    return path
