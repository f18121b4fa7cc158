"""Who is to be alone waits for the others, and they wait for him."""

from __future__ import annotations

import threading
from pathlib import Path

from schedlab.runner.turn import turn


def entered(directory: Path, *, alone: bool) -> tuple[threading.Event, threading.Event, threading.Thread]:
    """A test on another worker: whether it runs, and how to end it."""
    running, end = threading.Event(), threading.Event()

    def run() -> None:
        with turn(directory, alone=alone):
            running.set()
            end.wait(10)

    thread = threading.Thread(target=run)
    thread.start()
    return running, end, thread


def test_ordinary_tests_run_side_by_side(tmp_path: Path) -> None:
    """As many as there are workers."""
    running, end, thread = entered(tmp_path, alone=False)
    assert running.wait(5)
    with turn(tmp_path, alone=False):
        end.set()
    thread.join(5)


def test_one_that_is_alone_keeps_the_others_out(tmp_path: Path) -> None:
    """Until it is done."""
    with turn(tmp_path, alone=True):
        running, end, thread = entered(tmp_path, alone=False)
        assert not running.wait(0.1)
    assert running.wait(5)
    end.set()
    thread.join(5)


def test_one_that_waits_to_be_alone_is_not_overtaken(tmp_path: Path) -> None:
    """Else it might wait for ever."""
    with turn(tmp_path, alone=False):
        waiting, end, first = entered(tmp_path, alone=True)
        assert not waiting.wait(0.1)
        later, end_later, second = entered(tmp_path, alone=False)
        assert not later.wait(0.1)
    assert waiting.wait(5)
    assert not later.wait(0.05)
    end.set()
    assert later.wait(5)
    end_later.set()
    first.join(5)
    second.join(5)
