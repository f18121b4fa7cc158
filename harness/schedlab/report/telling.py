"""Works a story out of a history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from schedlab import timing
from schedlab.history.directory import MANIFEST, load
from schedlab.history.history import History
from schedlab.report.lives import Clock, guests, machines
from schedlab.report.marks import marks, notes
from schedlab.report.story import Story
from schedlab.report.verdicts import verdicts
from schedlab.runner.result import Result

T = TypeVar("T")

PATIENCE = 2.0
MOST = {"machines": 600, "pods": 3000, "marks": 4000, "events": 300, "decisions": 24}
"""What one test may draw of each kind; a report stays readable, and says what it left out."""


def teller(total: int, say: Callable[[str], None]) -> Callable[[Result], Story]:
    """Tells the stories of `total` results from their files; `say` hears how far it is every two seconds."""
    done = 0
    last = timing.monotonic()

    def tell_next(result: Result) -> Story:
        nonlocal done, last
        done += 1
        if timing.monotonic() - last > PATIENCE:
            last = timing.monotonic()
            say(f"drawing test {done} of {total}")
        return told(result, Path(result.artifacts)) if result.artifacts else Story()

    return tell_next


def told(result: Result, directory: Path) -> Story:
    """The story of one recorded test; an empty one if its record was never begun."""
    if not (directory / MANIFEST).exists():
        return Story()
    about = msgspec.json.decode((directory / MANIFEST).read_bytes(), type=dict[str, Any])
    return tell(load(directory), result, directory, str(about.get("description", "")))


def tell(history: History, result: Result, directory: Path, description: str = "") -> Story:
    """The story of a history; `directory` holds what is known of decisions."""
    start = min((revision.at for revision in history), default=None)
    last = max((revision.at for revision in history), default=None)
    if start is None or last is None:
        return Story(description=description)

    def clock(moment: datetime) -> float:
        return round((moment - start).total_seconds(), 3)

    omitted: dict[str, int] = {}
    pods = _some(guests(history, clock), "pods", omitted)
    events = _some(notes(history, clock), "events", omitted)
    length = clock(last)
    return Story(
        description=description,
        end=_end(result, clock, length),
        length=length,
        machines=_some(machines(history, clock), "machines", omitted),
        guests=pods,
        marks=_some(marks(history, clock, pods, events, result.operations), "marks", omitted),
        notes=events,
        verdicts=_some(verdicts(directory), "decisions", omitted),
        omitted=omitted,
    )


def _end(result: Result, clock: Clock, length: float) -> float:
    """When the last operation before the clean-up had ended."""
    ends = [
        clock(one.began) + one.seconds
        for one in result.operations
        if one.began is not None and one.block != "cleanup"
    ]
    return min(max(ends, default=length), length)


def _some(items: Iterable[T], kind: str, omitted: dict[str, int]) -> tuple[T, ...]:
    """The first items of a kind, as many as are drawn; the rest is counted."""
    iterator = iter(items)
    kept: Sequence[T] = tuple(islice(iterator, MOST[kind]))
    rest = sum(1 for _ in iterator)
    if rest:
        omitted[kind] = rest
    return tuple(kept)
