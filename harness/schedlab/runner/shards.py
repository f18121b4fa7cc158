"""One of n shards of a run: all shards together run each test once, and take about equally long.

A test stays on one shard with all its schedulers, so that its verdicts can be compared there. What earlier
runs took, if that is known, decides how tests are dealt out; every shard must be given the same record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

import msgspec

from schedlab.errors import UsageError


class _Run(msgspec.Struct):
    """What is needed of a result."""

    test: str
    seconds: float


class _Record(msgspec.Struct):
    """What is needed of a report."""

    results: list[_Run]


def parse(text: str) -> tuple[int, int]:
    """`2/5`: the second of five.

    Raises:
        UsageError: it is not that.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"{text!r} is no shard", hint="write 1/3, 2/3 or 3/3 for the parts of three")
    return number, count


def durations(path: Path) -> dict[str, float]:
    """How long each test took on all schedulers together, from a report.json or the directory it is in.

    Raises:
        UsageError: it cannot be read.
    """
    file = path / "report.json" if path.is_dir() else path
    try:
        record = msgspec.json.decode(file.read_bytes(), type=_Record)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            f"{file} tells no durations: {error}", hint="name the report.json of a run"
        ) from error
    found: dict[str, float] = {}
    for run in record.results:
        found[run.test] = found.get(run.test, 0.0) + run.seconds
    return found


def shard(tests: Iterable[str], number: int, count: int, known: Mapping[str, float]) -> set[str]:
    """The tests of a shard: longest first, each to the shard that has least so far.

    A test of unknown duration counts as one of median length.
    """
    usual = median(known.values()) if known else 1.0
    weights = {test: known.get(test, usual) for test in tests}
    loads = [0.0] * count
    chosen: set[str] = set()
    for test in sorted(weights, key=lambda test: (-weights[test], test)):
        lightest = min(range(count), key=lambda index: (loads[index], index))
        loads[lightest] += weights[test]
        if lightest == number - 1:
            chosen.add(test)
    return chosen
