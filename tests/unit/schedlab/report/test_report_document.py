"""report.json is read as it was written, also where its files have moved, and shards become one report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from schedlab.errors import UsageError
from schedlab.report.document import document, merged, read, write
from schedlab.report.drawing import report as command
from schedlab.runner.result import Result
from schedlab.suite.schema import schema_of


def result(test: str, scheduler: str = "mine", **more: object) -> Result:
    return Result(test=test, path="p", scheduler=scheduler, verdict="pass", **more)  # type: ignore[arg-type]


def test_a_report_survives_on_disk_and_fits_its_schema(tmp_path: Path) -> None:
    """The schema is generated from the types."""
    about = document([result("a/t", repeat=1), result("a/t", repeat=2)], mode="test", seconds=1.23456)
    file = write(about, tmp_path / "run")
    assert read(tmp_path / "run") == about
    jsonschema.validate(json.loads(file.read_text()), schema_of("report"))


def test_files_are_found_where_a_run_was_moved_to(tmp_path: Path) -> None:
    """An artefact of CI is unpacked somewhere else; what is nowhere is left as it was written."""
    lost = result("a/lost", artifacts="/gone/run/mine/a/lost")
    moved = result("a/t", artifacts="/gone/run/mine/a/t")
    write(document([moved, lost], mode="test", seconds=1), tmp_path)
    (tmp_path / "mine/a/t").mkdir(parents=True)
    places = [one.artifacts for one in read(tmp_path).results]
    assert places == [str(tmp_path / "mine/a/t"), "/gone/run/mine/a/lost"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "holds no report.json"),
        ("{}", "is no report"),
        (
            '{"version": 9, "mode": "test", "seconds": 1, "verdicts": {}, "differences": [], "results": []}',
            "version 9",
        ),
    ],
    ids=["nothing", "something else", "a later version"],
)
def test_what_is_no_report_is_told(tmp_path: Path, content: str | None, message: str) -> None:
    """With the way out."""
    if content is not None:
        (tmp_path / "report.json").write_text(content)
    with pytest.raises(UsageError, match=message) as error:
        read(tmp_path)
    assert error.value.hint


def test_shards_become_one_report() -> None:
    """Differences are found across them: a test's schedulers may have run on different machines."""
    failed = msgspec.structs.replace(result("b/t", "other"), verdict="fail")
    first = document([result("b/t"), result("a/t")], mode="test", seconds=5)
    second = document([failed], mode="test", seconds=9)
    both = merged([first, second])
    assert [one.title for one in both.results] == ["a/t[mine]", "b/t[mine]", "b/t[other]"]
    assert (both.verdicts, both.differences) == ({"pass": 2, "fail": 1}, ["b/t"])
    assert (both.seconds, both.shards) == (9, 2)


def test_runs_that_cannot_be_one_are_refused() -> None:
    """The same run of a test twice, or a run of mutants beside an ordinary one."""
    one = document([result("a/t")], mode="test", seconds=1)
    with pytest.raises(
        UsageError, match=r"1 results are in more than one of the runs, the first is a/t\[mine\]"
    ):
        merged([one, one])
    with pytest.raises(UsageError, match="different modes: sensitivity, test"):
        merged([one, document([], mode="sensitivity", seconds=1)])


def test_the_command_draws_a_run_and_merges_runs(tmp_path: Path) -> None:
    """`schedlab report RUN` needs no other word."""
    for name, test in (("one", "a/t"), ("two", "b/t")):
        write(document([result(test)], mode="test", seconds=1), tmp_path / name)
    run = CliRunner().invoke
    drawn = run(command, [str(tmp_path / "one")])
    assert (drawn.exit_code, drawn.output) == (0, f"{tmp_path}/one/report.html\n")
    elsewhere = run(command, [str(tmp_path / "one"), "--html", str(tmp_path / "x/page.html")])
    assert elsewhere.exit_code == 0
    assert (tmp_path / "x/page.html").read_text() == (tmp_path / "one/report.html").read_text()
    both = run(command, ["merge", str(tmp_path / "one"), str(tmp_path / "two"), "-o", str(tmp_path / "both")])
    assert both.exit_code == 0
    assert len(read(tmp_path / "both").results) == 2
    assert "2 pass" in (tmp_path / "both/report.html").read_text()
