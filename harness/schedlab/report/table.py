"""Tests by schedulers, and where the schedulers differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schedlab.report.repeats import together
from schedlab.runner.result import Result

Matrix = Mapping[str, Mapping[str, Result]]


def matrix(results: Iterable[Result]) -> Matrix:
    """Results by test and scheduler, repeated runs as one, tests in alphabetical order."""
    rows: dict[str, dict[str, Result]] = {}
    for result in together(results):
        rows.setdefault(result.test, {})[result.scheduler] = result
    return dict(sorted(rows.items()))


def differences(rows: Matrix) -> list[str]:
    """The tests whose verdict is not the same on all schedulers that ran them."""
    return [test for test, row in rows.items() if len({result.verdict for result in row.values()}) > 1]


def schedulers(rows: Matrix) -> list[str]:
    """The schedulers in the order in which they appear."""
    return list(dict.fromkeys(name for row in rows.values() for name in row))


def lines(rows: Matrix) -> Iterator[tuple[str, str]]:
    """The table as lines, each with the verdict that it should be coloured as."""
    names = schedulers(rows)
    labels = {test: _label(test, row) for test, row in rows.items()}
    width = max((len(label) for label in labels.values()), default=4)
    columns = [max(len(name), len("inconclusive  000.0s")) for name in names]
    header = "  ".join([f"{'test':{width}}", *(f"{n:{c}}" for n, c in zip(names, columns, strict=True))])
    yield header.rstrip(), ""
    differing = set(differences(rows))
    for test, row in rows.items():
        cells = [f"{_cell(row.get(name)):{column}}" for name, column in zip(names, columns, strict=True)]
        flag = "  <- differs" if test in differing else ""
        yield "  ".join([f"{labels[test]:{width}}", *cells]).rstrip() + flag, worst(row.values())


_SENSITIVITY = {"pass": "sensitive", "fail": "insensitive", "inconclusive": "unclear"}


def _label(test: str, row: Mapping[str, Result]) -> str:
    mutation = next(iter(row.values())).mutation
    return f"{test} {mutation}" if mutation else test


def _cell(result: Result | None) -> str:
    if result is None:
        return "-"
    word = _SENSITIVITY.get(result.verdict, result.verdict) if result.mutation else result.verdict
    return f"{word:12}  {result.seconds:5.1f}s"


_ORDER = ("fail", "inconclusive", "flaky", "pass")


def worst(results: Iterable[Result]) -> str:
    """The verdict of several results that matters most."""
    verdicts = {result.verdict for result in results}
    return next(verdict for verdict in _ORDER if verdict in verdicts)
