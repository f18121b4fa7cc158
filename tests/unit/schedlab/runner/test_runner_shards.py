"""Shards: together every test once, each about as long as the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.errors import UsageError
from schedlab.runner.shards import durations, parse, shard

TESTS = [f"area/test-{number}" for number in range(23)]
KNOWN = {test: float(1 + number % 7) for number, test in enumerate(TESTS[:-3])}


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_all_shards_together_are_all_tests_once(count: int) -> None:
    """Also if there are more shards than tests."""
    parts = [shard(TESTS, number, count, KNOWN) for number in range(1, count + 1)]
    assert sorted(test for part in parts for test in part) == sorted(TESTS)


def test_the_order_of_collection_does_not_matter() -> None:
    """Every machine deals them out alike."""
    assert shard(reversed(TESTS), 2, 3, KNOWN) == shard(TESTS, 2, 3, KNOWN)


def test_shards_take_about_equally_long() -> None:
    """By what tests took, not by how many they are."""
    slow = {**dict.fromkeys(TESTS, 1.0), TESTS[0]: 11.0, TESTS[1]: 11.0}
    loads = [sum(slow[test] for test in shard(TESTS, number, 4, slow)) for number in (1, 2, 3, 4)]
    assert max(loads) - min(loads) <= 1.0
    alike = [len(shard(TESTS, number, 4, {})) for number in (1, 2, 3, 4)]
    assert max(alike) - min(alike) == 1


def test_durations_are_summed_over_schedulers(tmp_path: Path) -> None:
    """From a report or the directory that it is in."""
    runs = [{"test": "a", "seconds": 1.5, "scheduler": "x"}, {"test": "a", "seconds": 2.0}]
    (tmp_path / "report.json").write_text(json.dumps({"version": 1, "results": runs}))
    assert durations(tmp_path) == durations(tmp_path / "report.json") == {"a": 3.5}


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "1/3/5"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    """With how to write one."""
    with pytest.raises(UsageError, match="is no shard"):
        parse(text)


def test_a_record_that_tells_no_durations_is_refused(tmp_path: Path) -> None:
    """Missing, or something else."""
    with pytest.raises(UsageError, match="tells no durations"):
        durations(tmp_path)
    (tmp_path / "report.json").write_text("[]")
    with pytest.raises(UsageError, match="tells no durations"):
        durations(tmp_path)
