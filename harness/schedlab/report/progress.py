"""What is running right now, across processes: each worker keeps one small file up to date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schedlab import timing


@dataclass(frozen=True, slots=True)
class Activity:
    """A test that runs, what it is doing, and for how long it has run (seconds)."""

    title: str
    doing: str
    seconds: float


class Worker:
    """Writes what one worker does."""

    def __init__(self, directory: Path, worker: str) -> None:
        self._file = directory / "progress" / (worker or "main")

    def begin(self, title: str) -> Callable[[str], None]:
        """Say that a test begins; the returned function says what it does."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        started = timing.now().timestamp()

        def tell(doing: str) -> None:
            self._file.write_text(f"{started}\n{title}\n{doing}\n")

        tell("")
        return tell

    def idle(self) -> None:
        """Say that nothing runs."""
        self._file.unlink(missing_ok=True)


def activities(directory: Path) -> list[Activity]:
    """What all workers do now."""
    found = []
    for file in sorted((directory / "progress").glob("*")):
        try:
            started, title, doing = file.read_text().split("\n")[:3]
        except (FileNotFoundError, ValueError):
            continue  # it ended, or is being written, while we looked
        found.append(Activity(title, doing, timing.now().timestamp() - float(started)))
    return found
