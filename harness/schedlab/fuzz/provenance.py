"""Which code a report is about."""

from __future__ import annotations

import subprocess
from pathlib import Path


def commit() -> str:
    """The commit that is checked out, with `-dirty` if files differ from it; `unknown` outside of git."""
    try:
        done = subprocess.run(
            ("git", "describe", "--always", "--dirty"),  # noqa: S607 - git is looked up in PATH on purpose
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
