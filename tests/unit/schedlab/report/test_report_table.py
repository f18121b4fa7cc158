"""The table shows every verdict and flags differences."""

from __future__ import annotations

import msgspec

from schedlab.report.table import differences, lines, matrix
from schedlab.runner.result import Result, Verdict


def result(test: str, scheduler: str, verdict: Verdict) -> Result:
    return Result(test=test, path="p", scheduler=scheduler, verdict=verdict, seconds=1.25)


ROWS = matrix(
    [
        result("b/two", "ref", "pass"),
        result("b/two", "mine", "fail"),
        result("a/one", "ref", "pass"),
        result("a/one", "mine", "pass"),
        result("c/three", "ref", "inconclusive"),
    ]
)


def test_tests_that_differ_are_named() -> None:
    """One scheduler alone cannot differ."""
    assert differences(ROWS) == ["b/two"]


def test_sensitivity_has_words_of_its_own() -> None:
    """A test is sensitive or not; that it failed without its plugin is the good outcome."""
    rows = matrix(
        [
            msgspec.structs.replace(result("a/one", "ref", "pass"), mutation="without NodeAffinity"),
            msgspec.structs.replace(result("b/two", "ref", "fail"), mutation="without TaintToleration"),
        ]
    )
    assert [line for line, _ in lines(rows)][1:] == [
        "a/one without NodeAffinity     sensitive       1.2s",
        "b/two without TaintToleration  insensitive     1.2s",
    ]


def test_a_row_per_test_and_a_column_per_scheduler() -> None:
    """In alphabetical order, with the worst verdict of the row for its colour."""
    assert list(lines(ROWS)) == [
        ("test     ref                   mine", ""),
        ("a/one    pass            1.2s  pass            1.2s", "pass"),
        ("b/two    pass            1.2s  fail            1.2s  <- differs", "fail"),
        ("c/three  inconclusive    1.2s  -", "inconclusive"),
    ]
