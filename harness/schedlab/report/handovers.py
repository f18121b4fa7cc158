"""How leadership changed hands in a record: how long nobody led, when the next one bound, who bound late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Self

import msgspec

from schedlab import timing
from schedlab.history.history import History
from schedlab.history.leases import Term, identities, late_bindings, processes, terms

_ENDS = ("SIGKILL", "SIGSTOP", "SIGTERM", "SIGINT")
_RELEASING = ("SIGTERM", "SIGINT", "released")
_JITTER = 1.2
"""A candidate waits `retryPeriod` and up to so many of them more (client-go, leaderelection.go)."""


class Bounds(msgspec.Struct, frozen=True):
    """How long nobody may lead, in seconds, as it follows from the settings of leader election.

    `after_release`: each standby looks once within `retryPeriod * (1 + 1.2)`. `after_loss`: it may see the
    last renewal so much later, then waits for the whole lease, and may see so much later that it is over.
    What the API server and the processes take comes on top.
    """

    after_release: float
    after_loss: float

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Self:
        """The bounds of a KubeSchedulerConfiguration; what it leaves out has the defaults 15 s and 2 s."""
        election = config.get("leaderElection") or {}
        look = timing.parse_duration(str(election.get("retryPeriod", "2s"))) * (1 + _JITTER)
        lease = timing.parse_duration(str(election.get("leaseDuration", "15s")))
        return cls(after_release=round(look, 3), after_loss=round(lease + 2 * look, 3))

    def after(self, how: str) -> float:
        """The bound of a change that came about so."""
        return self.after_release if how in _RELEASING else self.after_loss


class Handover(msgspec.Struct, frozen=True):
    """One change of leader; times are in seconds.

    `how` is what ended the old leader: the signal it got, `released`, or `not renewed`. `without_leader`
    runs from that moment to the moment at which the lease had its next holder; `to_first_binding` from
    there on, None if nothing was bound. Both are measured where the harness stands.
    """

    how: str
    without_leader: float
    to_first_binding: float | None


class Handovers(msgspec.Struct, frozen=True):
    """What a recorded run shows about one lease; `late` are bindings by a process out of its turn."""

    changes: tuple[Handover, ...]
    late: int
    bound_twice: int


def handovers(history: History, namespace: str, name: str) -> Handovers:
    """Read one lease's story from a history."""
    held = terms(history, namespace, name)
    who = identities(history)
    changes = tuple(
        _change(history, old, new, gap, who) for old, gap, new in _pairs(held) if new.holder in who
    )
    return Handovers(changes, len(late_bindings(history, namespace, name)), _bound_twice(history))


def _pairs(held: list[Term]) -> Iterator[tuple[Term, Term | None, Term]]:
    """Each change of holder: the old term, the term without a holder in between if any, the new term."""
    old: Term | None = None
    gap: Term | None = None
    for term in held:
        if not term.holder:
            gap = term
            continue
        if old is not None and term.holder != old.holder:
            yield old, gap, term
        old, gap = term, None


def _change(history: History, old: Term, new: Term, gap: Term | None, who: dict[str, str]) -> Handover:
    how, since = _end(history, old, new, gap, who.get(old.holder, ""))
    first = _first_binding(history, who[new.holder], new.began)
    return Handover(
        how=how,
        without_leader=round((new.began - since).total_seconds(), 3),
        to_first_binding=None if first is None else round((first - new.began).total_seconds(), 3),
    )


def _end(history: History, old: Term, new: Term, gap: Term | None, process: str) -> tuple[str, datetime]:
    """What ended a term, and when."""
    ends = [
        event
        for event in history.processes
        if event.process == process and event.at < new.began and event.detail in _ENDS
    ]
    if ends:
        return ends[-1].detail, ends[-1].at
    return ("released", gap.began) if gap is not None else ("not renewed", old.renewed)


def _first_binding(history: History, process: str, after: datetime) -> datetime | None:
    owners = processes(history)
    times = [
        write.done or write.at
        for write in history.writes(verb="create")
        if write.subresource == "binding" and write.succeeded and owners.get(write.credential) == process
    ]
    return min((moment for moment in times if moment >= after), default=None)


def _bound_twice(history: History) -> int:
    """Pods whose node changed after they had one."""
    nodes: dict[str, set[str]] = {}
    for revision in history:
        node = (revision.object.get("spec") or {}).get("nodeName") if revision.kind == "Pod" else None
        if node:
            nodes.setdefault(revision.uid, set()).add(str(node))
    return sum(len(seen) > 1 for seen in nodes.values())
