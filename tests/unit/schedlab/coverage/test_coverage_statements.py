"""Every documented statement is there once, its tests exist, and the page tells how they stand."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from schedlab.coverage import page
from schedlab.coverage.commands import coverage
from schedlab.coverage.statements import Seed, Statement, load, missing
from schedlab.errors import UsageError
from schedlab.report import document
from schedlab.runner.result import Result, Verdict

ROOT = Path(__file__).parents[4]
KNOWN: page.Verdicts = {"kube-scheduler": {"a/one": "pass", "a/two": "fail"}, "kubesched": {"a/one": "pass"}}


def seed(*statements: Statement) -> Seed:
    return Seed(seed="009", title="A document", source="somewhere", statements=statements)


def test_every_test_that_a_statement_names_exists() -> None:
    """A test that was renamed takes its statements along."""
    assert list(missing(load(), ROOT)) == []


def test_a_test_that_does_not_exist_is_named_with_its_statement() -> None:
    """Of a suite, a unit test, and one in a file that is there."""
    named = seed(
        Statement(id="S009-01", says="", tests=("filters/nothing",)),
        Statement(id="S009-02", says="", unit=("schedlab/nowhere.py::test_x",)),
        Statement(id="S009-03", says="", unit=("schedlab/test_schedlab_errors.py::test_nothing",)),
        Statement(id="S009-04", says="", unit=("schedlab/test_schedlab_errors.py",)),
    )
    assert list(missing([named], ROOT)) == [
        "S009-01: there is no suite test filters/nothing",
        "S009-02: there is no unit test schedlab/nowhere.py::test_x",
        "S009-03: there is no unit test schedlab/test_schedlab_errors.py::test_nothing",
    ]


def test_the_page_lists_every_statement_with_its_tests() -> None:
    """docs/coverage.md is as old as its verdicts; what it lists is never older than the statements."""
    written = (ROOT / "docs" / "coverage.md").read_text()
    cells = {
        row[1]: (row[2], row[3])
        for row in ([cell.strip() for cell in line.split("|")] for line in written.splitlines())
        if len(row) > 4 and re.fullmatch(r"S\d+-\d+", row[1])
    }
    made = page.markdown(load(), {}).splitlines()
    for line in made:
        row = [cell.strip() for cell in line.split("|")]
        if len(row) > 4 and row[1].startswith("S"):
            assert cells.get(row[1]) == (row[2], row[3]), f"{row[1]}: run `schedlab coverage RUN…` again"
    assert len(cells) == sum(len(one.statements) for one in load())


@pytest.mark.parametrize(
    ("tests", "scheduler", "expected"),
    [
        (("a/one",), "kube-scheduler", "pass"),
        (("a/one", "a/two"), "kube-scheduler", "**fail**"),
        (("a/one", "a/two"), "kubesched", "pass, 1 not run"),
        (("a/two",), "kubesched", "not run"),
        ((), "kubesched", ""),
    ],
)
def test_a_statement_stands_as_its_worst_test(tests: tuple[str, ...], scheduler: str, expected: str) -> None:
    """What was not run is said, and not counted as passed."""
    assert page.verdict(Statement(id="S009-01", says="", tests=tests), KNOWN[scheduler]) == expected


def test_a_line_tells_statement_change_tests_and_verdicts() -> None:
    """And a statement without a test stands out."""
    text = page.markdown(
        [
            seed(
                Statement(
                    id="S009-01", says="So it is.", now="Not so.", tests=("a/one",), unit=("k/t.py::x",)
                ),
                Statement(id="S009-02", says="Who knows."),
            )
        ],
        KNOWN,
    )
    assert (
        "| S009-01 | So it is. *1.36: Not so.* | [a/one](../suites/a/one/test.yaml), `t::x` | pass | pass |"
        in text
    )
    assert "| S009-02 | Who knows. | **no test** |  |  |" in text
    assert "| 009 A document | 2 | 1 | 0 | 1 | 1 of 1 pass | 1 of 1 pass |" in text


def run_directory(directory: Path, *results: tuple[str, str, Verdict, str]) -> Path:
    made = [
        Result(test=test, path="", scheduler=scheduler, verdict=verdict, mutation=mutation)
        for test, scheduler, verdict, mutation in results
    ]
    document.write(document.document(made, mode="test", seconds=1.0), directory)
    return directory


def test_verdicts_are_those_of_the_latest_run_and_never_of_a_mutation(tmp_path: Path) -> None:
    """A mutated test that fails is as it should be."""
    first = run_directory(
        tmp_path / "a", ("a/one", "kubesched", "fail", ""), ("a/two", "kubesched", "pass", "")
    )
    second = run_directory(tmp_path / "b", ("a/one", "kubesched", "pass", ""))
    third = run_directory(tmp_path / "c", ("a/one", "kubesched", "fail", "without it"))
    assert page.verdicts([first, second, third]) == {"kubesched": {"a/one": "pass", "a/two": "pass"}}


def test_a_test_with_scenarios_stands_as_its_worst(tmp_path: Path) -> None:
    """Each scenario has a verdict of its own."""
    rows: list[tuple[str, str, Verdict, str]] = [
        ("a/one.first", "kubesched", "pass", ""),
        ("a/one.second", "kubesched", "flaky", ""),
        ("a/one.third", "kubesched", "pass", ""),
    ]
    assert page.verdicts([run_directory(tmp_path, *rows)]) == {"kubesched": {"a/one": "flaky"}}


def test_the_command_prints_the_page_and_refuses_other_directories(tmp_path: Path) -> None:
    """With the way out."""
    run = run_directory(tmp_path / "a", ("a/one", "kubesched", "pass", ""))
    assert CliRunner().invoke(coverage, [str(run)]).output.startswith("<!-- Made by `schedlab coverage")
    (tmp_path / "empty").mkdir()
    failed = CliRunner().invoke(coverage, [str(tmp_path / "empty")])
    assert failed.exit_code == 4
    assert "holds no report.json" in failed.output


@pytest.mark.parametrize(
    ("statements", "complaint"),
    [
        ("[{id: S009-01, says: a}, {id: S009-01, says: b}]", "S009-01 is given twice"),
        ("[{id: S008-01, says: a}]", "S008-01 is not of seed 009"),
        ("[{id: first, says: a}]", r"\$.statements\[0\].id"),
        ("[{id: S009-01, say: a}]", "say"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, statements: str, complaint: str) -> None:
    """Its name and the field are told."""
    (tmp_path / "x.yaml").write_text(f'seed: "009"\ntitle: t\nsource: s\nstatements: {statements}\n')
    with pytest.raises(UsageError, match=complaint):
        load(tmp_path)


def test_a_statement_is_short() -> None:
    """Own words, no paragraphs."""
    for one in (statement for found in load() for statement in found.statements):
        assert len(msgspec.json.encode(one.says)) < 130, one.id
