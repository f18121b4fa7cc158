"""How long work shows that it goes on: bars on a terminal, plain lines elsewhere, nothing in tests.

A task knows how much there is to do and how much is done; what is left is estimated from the pace so far.
Where nobody can watch a bar, a line is printed at the start, at least every 30 seconds, and at the end.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bars

from schedlab import timing

_LINE_SECONDS = 15.0


@dataclass
class Task:
    """One piece of work: `done` of `total`, in `unit` (`bytes` or a plural noun)."""

    title: str
    total: float
    unit: str
    report: Callable[[Task], None]
    done: float = 0.0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = timing.monotonic()

    def update(self, done: float | None = None) -> None:
        """Say how much is done; call it now and then even if that has not changed, so that time is shown."""
        if done is not None:
            self.done = min(done, self.total) if self.total else done
        self.report(self)

    def describe(self) -> str:
        """How far it is, for how long it has run, and how much longer it may take."""
        elapsed = timing.monotonic() - self.started
        share = self.done / self.total if self.total else 0.0
        text = ", ".join(filter(None, (self._amount(), timing.format_duration(elapsed))))
        if 0.02 < share < 1 and elapsed > 1:
            text += f", about {timing.format_duration(elapsed / share - elapsed)} left"
        return text

    def _amount(self) -> str:
        if not self.total:
            return f"{self.done:.0f} {self.unit}" if self.done else ""
        if self.unit == "bytes":
            return f"{self.done / 1e6:.0f} of {self.total / 1e6:.0f} MB"
        return f"{self.done:.0f} of {self.total:.0f} {self.unit}"


class Progress(ABC):
    """Where work reports what it does."""

    @abstractmethod
    def note(self, text: str) -> None:
        """Say something that stays."""

    @contextmanager
    def task(self, title: str, total: float, unit: str) -> Iterator[Task]:
        """Report one piece of work; the `with` block does it."""
        task = Task(title, total, unit, self._report)
        self._begin(task)
        try:
            yield task
        finally:
            self._end(task)

    def _begin(self, task: Task) -> None: ...  # noqa: B027 - reporters override what they show

    def _report(self, task: Task) -> None: ...  # noqa: B027 - reporters override what they show

    def _end(self, task: Task) -> None: ...  # noqa: B027 - reporters override what they show


class Silent(Progress):
    """Shows nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""


class Lines(Progress):
    """Prints plain lines, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._printed = 0.0

    def note(self, text: str) -> None:
        """Print a line."""
        print(text, file=self._stream, flush=True)
        self._printed = timing.monotonic()

    def _begin(self, task: Task) -> None:
        self.note(f"{task.title} …")

    def _report(self, task: Task) -> None:
        if timing.monotonic() - self._printed >= _LINE_SECONDS:
            self.note(f"{task.title}: {task.describe()}")

    def _end(self, task: Task) -> None:
        self.note(f"{task.title}: {task.describe()}")


class Terminal(Progress):
    """Draws one bar, which disappears when its task ends and leaves a line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            transient=True,
        )
        self._bar = self._bars.add_task("", visible=False, state="")

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, highlight=False, markup=False)

    def _begin(self, task: Task) -> None:
        self._bars.reset(self._bar, total=task.total, description=task.title, visible=True, state="")
        self._bars.start()

    def _report(self, task: Task) -> None:
        self._bars.update(self._bar, completed=task.done, state=task.describe())

    def _end(self, task: Task) -> None:
        self._bars.stop()
        self.note(f"{task.title}: {task.describe()}")


def reporter(stream: TextIO | None = None) -> Progress:
    """Bars if `stream` (standard error) is a terminal, lines otherwise."""
    stream = stream or sys.stderr
    if stream.isatty():
        return Terminal(Console(file=stream))
    return Lines(stream)
