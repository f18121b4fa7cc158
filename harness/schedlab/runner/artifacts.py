"""Where a run's files go: `artifacts/<time>/`, with `artifacts/latest` pointing at the newest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedlab import timing


def settle(config: pytest.Config) -> None:
    """Choose the run directory and, under `schedlab test`, the JUnit file; nothing is made yet."""
    option = config.option
    if not option.schedlab_run:
        base = Path(option.artifacts or os.environ.get("ARTIFACTS") or "artifacts")
        stamp = timing.now().strftime("%Y%m%d-%H%M%S")
        option.schedlab_run = str((base / f"{stamp}-{os.getpid()}").absolute())
    if option.schedlab_terminal and not option.xmlpath and not hasattr(config, "workerinput"):
        option.xmlpath = str(run_directory(config) / "junit.xml")


def run_directory(config: pytest.Config) -> Path:
    """The run directory."""
    return Path(str(config.option.schedlab_run))


def point_latest(directory: Path) -> None:
    """Make `latest` beside a run directory point at it."""
    link = directory.parent / "latest"
    fresh = directory.parent / f".latest-{os.getpid()}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(directory.name)
    fresh.replace(link)
