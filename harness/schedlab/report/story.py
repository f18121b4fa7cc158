"""One test on one scheduler as it is drawn: who was where and when, what happened, and what was decided.

A story is worked out from a history alone, so any recorded run can be drawn again. Moments are seconds since
the history began, as the harness received them. It holds names, requests, events and scores, and no content
of an object beyond these: what is not in it cannot leak from a report.
"""

from __future__ import annotations

import msgspec


class Span(msgspec.Struct, frozen=True):
    """A stretch of time and what was so; `until` is None if it was still so at the end."""

    since: float
    text: str = ""
    until: float | None = None


class Room(msgspec.Struct, frozen=True):
    """How many accelerators of each kind a machine could give away from a moment on."""

    since: float
    slots: dict[str, int]


class Machine(msgspec.Struct, frozen=True):
    """A node: the group it stands in, its model, its accelerators by resource name, and when it took no pods.

    `slots` is the most that it ever had of each; `room` is what was allocatable from when on, so a device
    that fails shows as a slot that nobody can have.
    """

    name: str
    since: float
    rack: str = ""
    model: str = ""
    slots: dict[str, int] = {}
    room: tuple[Room, ...] = ()
    shut: tuple[Span, ...] = ()
    until: float | None = None


class Guest(msgspec.Struct, frozen=True):
    """A pod: what it asks of accelerators, to which job it belongs, and its way from creation to its end.

    `end` says how it ended if not by a plain deletion: `preempted`, `evicted`, `succeeded`, `failed`.
    """

    name: str
    since: float
    job: str = ""
    takes: dict[str, int] = {}
    priority: int = 0
    node: str = ""
    bound: float | None = None
    until: float | None = None
    end: str = ""
    gated: bool = False


class Mark(msgspec.Struct, frozen=True):
    """Something on the timeline: a moment, or a stretch if it has an end."""

    lane: str
    at: float
    text: str
    until: float | None = None


class Note(msgspec.Struct, frozen=True):
    """An Event of the cluster."""

    at: float
    type: str
    reason: str
    about: str
    text: str
    count: int = 1


class Row(msgspec.Struct, frozen=True):
    """One node of a decision: its scores and their sum, or who refused it and why, if that is known."""

    node: str
    scores: dict[str, int] = {}
    total: int | None = None
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    refused: bool = False
    chosen: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """One decision about one pod, and who says so: the scheduler's log, or somebody's `explain`."""

    pod: str
    source: str
    result: str
    message: str = ""
    rows: tuple[Row, ...] = ()
    more: int = 0
    """Nodes that are not shown."""


class Story(msgspec.Struct, frozen=True):
    """What is drawn of one test on one scheduler.

    `end` is the moment before the test was undone, at which placements are shown first; `length` is that of
    the whole history. `omitted` counts what is too much to draw, by kind.
    """

    description: str = ""
    end: float = 0.0
    length: float = 0.0
    machines: tuple[Machine, ...] = ()
    guests: tuple[Guest, ...] = ()
    marks: tuple[Mark, ...] = ()
    notes: tuple[Note, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    omitted: dict[str, int] = {}
