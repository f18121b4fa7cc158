"""Several runs of one test are one verdict, and a flake is named with the runs that show it."""

from __future__ import annotations

import pytest

from schedlab.report.repeats import Flake, flakes, summary, together
from schedlab.runner.result import Result, Verdict


def runs(*verdicts: Verdict, test: str = "a/t", scheduler: str = "mine") -> list[Result]:
    return [
        Result(test=test, path="p", scheduler=scheduler, verdict=verdict, reason=verdict, repeat=number)
        for number, verdict in enumerate(verdicts, start=1)
    ]


@pytest.mark.parametrize(
    ("verdicts", "verdict", "evidence"),
    [
        (("pass", "pass"), "pass", 1),
        (("fail", "fail"), "fail", 1),
        (("pass", "fail", "fail"), "flaky", 2),
        (("fail", "pass"), "flaky", 1),
        (("pass", "inconclusive"), "flaky", 2),
        (("pass", "flaky"), "flaky", 1),
    ],
    ids=["all pass", "all fail", "some fail", "the first fails", "some say nothing", "flaky in itself"],
)
def test_runs_that_disagree_are_flaky(verdicts: tuple[Verdict, ...], verdict: str, evidence: int) -> None:
    """With the evidence of the first run that failed."""
    (one,) = together(reversed(runs(*verdicts)))
    assert (one.verdict, one.repeat) == (verdict, evidence)


def test_flakes_are_named_with_their_runs() -> None:
    """Tests and schedulers apart; a test that always fails is no flake."""
    results = [
        *runs("pass", "fail", "pass", "inconclusive"),
        *runs("fail", "fail", scheduler="other"),
        *runs("pass", test="a/once"),
    ]
    assert list(flakes(results)) == [Flake("a/t", "mine", {"pass": 2, "fail": 1, "inconclusive": 1}, (2, 4))]


def test_a_test_that_ran_once_is_no_flake_of_repetition() -> None:
    """Even if it was flaky in itself: there is nothing to compare it with."""
    assert list(flakes(runs("flaky"))) == []


def test_the_summary_counts_tests_and_names_flakes() -> None:
    """One line if there is nothing to say."""
    assert list(summary(runs("pass", "pass"), 2)) == ["tests: 1, schedulers: 1, runs of each: 2: no flake"]
    assert list(summary(runs("pass", "fail", "pass"), 3)) == [
        "tests: 1, schedulers: 1, runs of each: 3: 1 flaky",
        "  a/t on mine: 1 fail, 2 pass (runs #2)",
    ]
