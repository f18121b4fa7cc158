"""Work that lasts says so: bars on a terminal, lines elsewhere."""

import io

import pytest
from rich.console import Console

from schedlab import timing
from schedlab.cluster.progress import Lines, Silent, Terminal, reporter


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""
    now = {"s": 1000.0}
    monkeypatch.setattr(timing, "monotonic", lambda: now["s"])
    return now


def test_lines_come_at_least_every_thirty_seconds(clock):
    """Even if nothing is done meanwhile, as while a linker works."""
    stream = io.StringIO()
    with Lines(stream).task("building", 100, "packages") as task:
        for second in range(120):
            clock["s"] += 1
            task.update(second // 2)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "building …"
    assert 4 <= len(lines) <= 12
    assert lines[-1] == "building: 59 of 100 packages, 2m00s, about 1m23s left"


def test_what_is_left_is_estimated_from_the_pace(clock):
    """A quarter in ten seconds leaves thirty."""
    with Silent().task("x", 400, "packages") as task:
        clock["s"] += 10
        task.update(100)
        assert task.describe() == "100 of 400 packages, 10s, about 30s left"


def test_nothing_is_estimated_from_nothing(clock):
    """Neither at the beginning nor when it is over; and without a total only time is shown."""
    with Silent().task("x", 1e7, "bytes") as task:
        assert task.describe() == "0 of 10 MB, 0s"
        clock["s"] += 3
        task.update(2e7)
        assert task.describe() == "10 of 10 MB, 3s"
    with Silent().task("x", 0, "packages") as task:
        clock["s"] += 3
        assert task.describe() == "3s"


def test_a_terminal_shows_a_bar_and_keeps_the_result():
    """One reporter serves one task after another."""
    stream = io.StringIO()
    shown = Terminal(Console(file=stream, force_terminal=True, width=100))
    shown.note("first")
    for title in ("downloading", "building"):
        with shown.task(title, 10, "packages") as task:
            task.update(10)
    text = stream.getvalue()
    assert "first" in text
    assert "downloading: 10 of 10 packages" in text
    assert "building: 10 of 10 packages" in text


def test_lines_are_chosen_where_nobody_watches():
    """A log file is no terminal."""
    assert isinstance(reporter(io.StringIO()), Lines)


def test_bars_are_chosen_on_a_terminal():
    """Standard error usually is one."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    assert isinstance(reporter(stream), Terminal)
