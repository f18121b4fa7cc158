"""docs/regressions.md says what the tree holds: every test and mutant by number, and nothing else."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "regressions.md"
MUTANTS = ROOT / "tests" / "mutants"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    number: int
    issues: frozenset[str]
    tests: tuple[str, ...]
    mutants: tuple[str, ...]
    reason: str


@cache
def rows() -> tuple[Row, ...]:
    """The table, read off the page."""
    found = []
    for line in TABLE.read_text().splitlines():
        if not re.match(r"\| \d+ \|", line):
            continue
        number, issues, _, shown, mutants = (cell.strip() for cell in line.strip("|").split("|"))
        tests = tuple(re.findall(r"`(test_\w+)`", shown))
        found.append(
            Row(
                int(number),
                frozenset(re.findall(r"\[#(\d+)\]", issues)),
                tests,
                tuple(re.findall(r"`([\w-]+)`", mutants)),
                "" if tests else shown,
            )
        )
    return tuple(found)


@cache
def defined() -> dict[str, list[str]]:
    """Every unit test's name with the files that define it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests" / "unit").rglob("test_*.py")):
        for item in ast.parse(path.read_text()).body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name.startswith("test_"):
                found[item.name].append(path.relative_to(ROOT).as_posix())
    return found


def kills(mutant: str) -> list[str]:
    """The names of the tests that the mutant must not survive."""
    header = (MUTANTS / f"{mutant}.patch").read_text().split("\ndiff --git", 1)[0]
    return re.findall(r"^Kills: \S+?::(\w+)", header, re.MULTILINE)


def test_every_bug_of_the_list_has_its_line() -> None:
    """The list has 36 bugs, in order."""
    assert [row.number for row in rows()] == list(range(1, 37))


def test_every_line_has_a_test_or_a_reason_and_every_test_a_mutant() -> None:
    """A bug without a test says why."""
    for row in rows():
        assert bool(row.tests) != bool(row.reason), row
        assert bool(row.tests) == bool(row.mutants), row


def test_the_tests_exist_and_a_mutant_is_killed_by_one_of_its_line() -> None:
    """Names are looked up in the tree; each names one test."""
    for row in rows():
        for name in row.tests:
            assert len(defined()[name]) == 1, name
        for mutant in row.mutants:
            assert set(kills(mutant)) & set(row.tests), mutant


def test_whatever_has_a_number_in_the_tree_is_in_the_table() -> None:
    """A test or mutant by number that the table does not know could not be found."""
    listed = {name for row in rows() for name in row.tests}
    assert {name for name in defined() if name.startswith("test_k8s_")} <= listed
    mutants = {name for row in rows() for name in row.mutants}
    assert {path.stem for path in MUTANTS.glob("k8s-*.patch")} <= mutants


def test_a_number_in_a_name_is_one_of_the_reports_of_its_line() -> None:
    """The number leads to the right report."""
    for row in rows():
        for name in (*row.tests, *row.mutants):
            if number := re.match(r"(?:test_k8s_|k8s-)(\d+)", name):
                assert number[1] in row.issues, name
