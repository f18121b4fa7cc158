"""All processes of a run write below one directory."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.runner.artifacts import run_directory, settle, tell_worker


def config(**more: Any) -> Any:
    option = SimpleNamespace(artifacts="", schedlab_terminal=False, xmlpath=None)
    return SimpleNamespace(option=option, stash=pytest.Stash(), **more)


def test_a_worker_writes_where_its_controller_says() -> None:
    """However long after it, and from whichever process."""
    controller, workerinput = config(), dict[str, object]()
    settle(controller)
    tell_worker(controller, workerinput)
    worker = config(workerinput=workerinput)
    settle(worker)
    assert run_directory(worker) == run_directory(controller)


def test_each_run_has_a_directory_of_its_own(tmp_path: Path) -> None:
    """Below the one that was asked for, absolute, since tests change directories."""
    run = config()
    run.option.artifacts = str(tmp_path)
    settle(run)
    assert run_directory(run).parent == tmp_path
    assert run_directory(run).is_absolute()
