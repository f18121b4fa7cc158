"""The terminal says what has ended and what goes on, and is quiet otherwise."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from schedlab.report import terminal as module
from schedlab.report.progress import Worker, activities
from schedlab.report.terminal import Terminal
from schedlab.runner.result import Result

RESULT = Result(test="a/t", path="p", scheduler="s", verdict="fail", seconds=1.23)


def test_workers_tell_what_they_do(tmp_path: Path) -> None:
    """Each in a file of its own, which goes when nothing runs."""
    first, second = Worker(tmp_path, "gw0"), Worker(tmp_path, "gw1")
    first.begin("a/t[s]")("place: scheduled")
    second.begin("b/u[s]")
    assert [(one.title, one.doing) for one in activities(tmp_path)] == [
        ("a/t[s]", "place: scheduled"),
        ("b/u[s]", ""),
    ]
    first.idle()
    assert [one.title for one in activities(tmp_path)] == ["b/u[s]"]


def test_a_half_written_file_is_no_activity(tmp_path: Path) -> None:
    """It will be read a moment later."""
    (tmp_path / "progress").mkdir()
    (tmp_path / "progress" / "gw0").write_text("12")
    assert activities(tmp_path) == []


def test_elsewhere_it_is_quiet_but_for_results_and_a_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs, and for how long."""
    monkeypatch.setattr(module, "HEARTBEAT", 0.02)
    out = io.StringIO()
    terminal = Terminal(Console(file=out, width=200), tmp_path)
    Worker(tmp_path, "").begin("a/t[s]")("place: scheduled")
    terminal.start(2)
    terminal.finished(RESULT)
    for _ in range(200):
        if "running" in out.getvalue():
            break
        terminal._stop.wait(0.01)
    terminal.stop()
    first, beat, *_ = out.getvalue().splitlines()
    assert first == "FAIL         a/t[s]  1.2s"
    assert beat.startswith("... 1 of 2 done after")
    assert beat.endswith("running: a/t[s] 0s place: scheduled")


def test_on_a_tty_the_running_tests_are_live(tmp_path: Path) -> None:
    """And gone at the end, where only results stay."""
    out = io.StringIO()
    terminal = Terminal(Console(file=out, width=100, force_terminal=True), tmp_path)
    Worker(tmp_path, "").begin("a/t[s]")("place: scheduled")
    terminal.start(1)
    terminal._live.refresh()  # type: ignore[union-attr]
    assert "a/t[s]  0s  place: scheduled" in out.getvalue()
    terminal.finished(RESULT)
    terminal.stop()
    assert "FAIL" in out.getvalue()
