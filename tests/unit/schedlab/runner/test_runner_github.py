"""GitHub is told what failed and where, in lines that no message can break out of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedlab.runner.github import annotated, summary, wanted
from schedlab.runner.result import Failure, Result


def result(verdict: Any, **more: Any) -> Result:
    return Result(test="area/t", path="/w/suites/area/t/test.yaml", scheduler="s", verdict=verdict, **more)


def test_it_is_on_where_github_runs_it_or_where_it_is_asked_for() -> None:
    """And nowhere else."""
    assert wanted(asked=False, environment={"GITHUB_ACTIONS": "true"})
    assert wanted(asked=True, environment={})
    assert not wanted(asked=False, environment={"GITHUB_ACTIONS": "false"})


def test_a_failure_is_annotated_at_its_operation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Relative to the workspace, wherever schedlab was called."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    failure = Failure(message="m", position="a/test.yaml:7:3")
    found = list(annotated([result("fail", reason="not so", failure=failure)], tmp_path))
    assert found == ["::error file=sub/a/test.yaml,line=7,col=3,title=area/t[s]::not so"]


def test_a_message_cannot_end_its_line_or_add_fields() -> None:
    """Names and messages come from clusters and files."""
    evil = result("fail", reason="100%\n::set-output name=x::y", mutation="with a: b, c")
    (line,) = annotated([evil], Path("/w"))
    assert line == (
        "::error file=suites/area/t/test.yaml,line=1,col=1,title=area/t[s with a%3A b%2C c]"
        "::100%25%0A::set-output name=x::y"
    )


def test_flaky_and_slow_tests_are_warnings() -> None:
    """What simply passes is not told."""
    slow = result("pass", seconds=4.0, budget=2.0)
    found = list(annotated([result("pass"), result("flaky"), slow], Path("/w")))
    assert [line.split(" ")[0] for line in found] == ["::warning", "::warning"]
    assert found[1].endswith("::took 4.0s, its budget is 2s")
    assert not list(annotated([result("pass", seconds=1.0, budget=2.0)], Path("/w")))


def test_the_summary_counts_and_lists_what_did_not_pass() -> None:
    """Cells keep to themselves."""
    text = summary([result("pass"), result("fail", reason="a|b\n<i>"), result("pass")])
    assert "3 runs: 1 fail, 2 pass" in text
    assert "| :x: | area/t | s | a\\|b<br>&lt;i> |" in text
    assert text.count("area/t") == 1
    assert "| | test |" not in summary([result("pass")])
