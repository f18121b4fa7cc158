"""Turns what went wrong into what a person needs: expected, seen, since when, and the events."""

from __future__ import annotations

from datetime import datetime

import msgspec

from schedlab import timing
from schedlab.api.objects import Ref
from schedlab.errors import SchedlabError
from schedlab.history.history import History
from schedlab.operations import registry
from schedlab.operations.base import Unmet
from schedlab.operations.events import line
from schedlab.runner.result import Failure
from schedlab.suite.plan import PlannedOperation

LAST_EVENTS = 5


def failure_of(error: SchedlabError, step: str, planned: PlannedOperation, history: History) -> Failure:
    """The failure of an operation, with evidence from the history."""
    base = Failure(
        message=error.message + (f"\n{error.hint}" if error.hint else ""),
        step=step,
        operation=planned.tag,
        position=str(planned.position),
    )
    if not isinstance(error, Unmet):
        return base
    outcome = error.outcome
    return msgspec.structs.replace(
        base,
        expected=outcome.expected + (", and to stay so" if error.broke else ""),
        seen=outcome.seen,
        since=ago(outcome.since),
        waited=round(error.waited, 3),
        assertion=registry.OPERATIONS[planned.tag].judges,
        objects=tuple(str(ref) for ref in outcome.objects),
        events=tuple(events_about(history, outcome.objects)),
    )


def ago(moment: datetime | None) -> str:
    """A moment as people think of it while they look at a failure."""
    if moment is None:
        return ""
    seconds = (timing.now() - moment).total_seconds()
    before = timing.format_duration(max(seconds, 0.0))
    return f"{moment.strftime('%H:%M:%S.%f')[:-3]}Z, {before} before the failure"


def events_about(history: History, objects: tuple[Ref, ...]) -> list[str]:
    """The last events about some objects."""
    found = [line(event) for ref in objects for event in history.events(ref)]
    return found[-LAST_EVENTS:]
