"""The terminal while tests run: a live line per running test on a tty; elsewhere quiet, with a sign of life.

Every finished test gets one line. Nothing else is printed until the end, where pytest repeats the failures
and the table follows.
"""

from __future__ import annotations

import threading
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from schedlab import timing
from schedlab.report.progress import activities
from schedlab.runner.result import Result

HEARTBEAT = 25.0
_STYLES = {"pass": "green", "fail": "bold red", "flaky": "yellow", "inconclusive": "magenta"}


class Terminal:
    """Shows the progress of one run."""

    def __init__(self, console: Console, directory: Path) -> None:
        self._console = console
        self._directory = directory
        self.total = 0
        self._done = 0
        self._live: Live | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._started = timing.monotonic()

    def start(self, total: int) -> None:
        """Begin, with `total` tests to run."""
        self.total = total
        self._started = timing.monotonic()
        if self._console.is_terminal:
            self._live = Live(
                console=self._console, get_renderable=self._screen, refresh_per_second=4, transient=True
            )
            self._live.start()
        else:
            self._thread = threading.Thread(target=self._heartbeat, daemon=True, name="heartbeat")
            self._thread.start()

    def finished(self, result: Result) -> None:
        """A test has ended."""
        self._done += 1
        style = _STYLES[result.verdict]
        line = Text.assemble(
            (f"{result.verdict.upper():12} ", style), result.title, (f"  {result.seconds:.1f}s", "dim")
        )
        self._console.print(line, soft_wrap=True, highlight=False)

    def say(self, text: str) -> None:
        """Tell what goes on apart from tests."""
        self._console.print(Text(f"... {text}"), soft_wrap=True, highlight=False)

    def stop(self) -> None:
        """End the live display; what is said afterwards is printed as it comes."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
            self._thread = None

    def _screen(self) -> Group:
        lines = [
            Text(
                f"  {one.title}  {one.seconds:.0f}s  {one.doing}",
                style="cyan",
                no_wrap=True,
                overflow="ellipsis",
            )
            for one in activities(self._directory)
        ]
        return Group(*lines, Text(self._summary(), style="dim"))

    def _summary(self) -> str:
        spent = timing.format_duration(round(timing.monotonic() - self._started))
        return f"{self._done} of {self.total} done after {spent}"

    def _heartbeat(self) -> None:
        while not self._stop.wait(HEARTBEAT):
            running = "; ".join(
                f"{one.title} {one.seconds:.0f}s {one.doing}" for one in activities(self._directory)
            )
            line = Text(f"... {self._summary()}, running: {running or 'nothing'}")
            self._console.print(line, soft_wrap=True, highlight=False)
