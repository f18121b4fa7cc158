"""Where a run's files go: `artifacts/<time>/`, with `artifacts/latest` pointing at the newest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedlab import timing

_RUN = pytest.StashKey[Path]()
_INPUT = "schedlab_run"


def settle(config: pytest.Config) -> None:
    """Choose the run directory and, under `schedlab test`, the JUnit file; nothing is made yet.

    A worker of pytest-xdist gets the run directory of the process that started it.
    """
    if hasattr(config, "workerinput"):
        config.stash[_RUN] = Path(config.workerinput[_INPUT])
        return
    option = config.option
    base = Path(option.artifacts or os.environ.get("ARTIFACTS") or "artifacts")
    stamp = timing.now().strftime("%Y%m%d-%H%M%S")
    config.stash[_RUN] = (base / f"{stamp}-{os.getpid()}").absolute()
    if option.schedlab_terminal and not option.xmlpath:
        option.xmlpath = str(run_directory(config) / "junit.xml")


def tell_worker(config: pytest.Config, workerinput: dict[str, object]) -> None:
    """Hand the run directory to a worker that is about to start."""
    workerinput[_INPUT] = str(run_directory(config))


def run_directory(config: pytest.Config) -> Path:
    """The run directory."""
    return config.stash[_RUN]


def point_latest(directory: Path) -> None:
    """Make `latest` beside a run directory point at it."""
    link = directory.parent / "latest"
    fresh = directory.parent / f".latest-{os.getpid()}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(directory.name)
    fresh.replace(link)
