"""Tests that say `concurrent: false` run while no other test of the run does, on whatever worker.

Control planes are not shared, but processors are: a test that lives on timing must not be slowed down by
others. Workers are processes, so the turns are locks on files in the run directory.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def turn(directory: Path, *, alone: bool) -> Iterator[None]:
    """Wait for one's turn; the gate keeps later tests from overtaking one that waits to be alone."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".gate").open("w") as gate, (directory / ".turn").open("w") as running:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(running, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield
