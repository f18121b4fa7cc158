"""The only place where schedlab reads a clock or waits for time to pass.

Everything else imports from here, so a test that replaces these names replaces time itself.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self, TypeVar

from schedlab.errors import UsageError

T = TypeVar("T")

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|ms|s|m|h)")


def monotonic() -> float:
    """Seconds on a clock that only goes forward; differences of it are durations."""
    return time.monotonic()  # noqa: TID251 - this module is the harness's clock


def now() -> datetime:
    """The wall clock, in UTC and aware of it."""
    return datetime.now(UTC)


async def sleep(seconds: float) -> None:
    """Let other tasks run for `seconds`."""
    await asyncio.sleep(seconds)  # noqa: TID251 - this module is the harness's clock


def pause(seconds: float) -> None:
    """Block the thread for `seconds`; only for code that has no event loop."""
    time.sleep(seconds)  # noqa: TID251 - this module is the harness's clock


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by which something must have happened."""

    at: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """The moment `seconds` from now."""
        return cls(at=monotonic() + seconds, seconds=seconds)

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - monotonic())

    @property
    def expired(self) -> bool:
        """True once the moment has come."""
        return monotonic() >= self.at


async def poll(
    probe: Callable[[], Awaitable[T | None]], deadline: Deadline, *, interval: float = 0.05
) -> T | None:
    """The first answer of `probe` that is not None, or None once the deadline has passed.

    The probe runs at least once, and once more after the deadline, so a slow machine never times out on an
    answer that was already there.
    """
    while True:
        last = deadline.expired
        answer = await probe()
        if answer is not None or last:
            return answer
        await sleep(min(interval, max(deadline.remaining, 0.001)))


def parse_duration(text: str) -> float:
    """Seconds in a duration as Go and Kubernetes write it: `5s`, `1m30s`, `500ms`, `1.5h`, `0`.

    Raises:
        UsageError: for anything else, including a bare number other than 0, whose unit nobody can know.
    """
    stripped = text.strip()
    if stripped == "0":
        return 0.0
    parts = list(_PART.finditer(stripped))
    if not parts or "".join(part.group(0) for part in parts) != stripped:
        raise UsageError(
            f"{text!r} is not a duration", hint="write a number with a unit, such as 500ms, 5s or 1m30s"
        )
    return sum(float(part.group(1)) * _UNITS[part.group(2)] for part in parts)


def format_duration(seconds: float) -> str:
    """A duration as people and `parse_duration` read it: `350ms`, `4.2s`, `1m30s`, `2h05m`."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms" if seconds > 0 else "0s"
    if seconds < 59.95:
        return f"{seconds:.1f}".removesuffix(".0") + "s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m"
