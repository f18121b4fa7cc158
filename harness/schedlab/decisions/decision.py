"""One scheduling decision, with everything that its source could see and nothing that it could not.

kube-scheduler shows its feasible set through the tap, its scores in its log, the text in the pod's condition;
it never shows why one node was refused. kubesched's `explain` shows that, but performs no deletion. So each
field is either what was seen or `UNOBSERVED`; no field is ever filled in from another scheduler's answer. In
JSON an unobserved field is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, TypeVar

T = TypeVar("T")
Result = Literal["Scheduled", "Unschedulable", "Gated", "Error"]
PodKey = str
NodeName = str


class Unobserved(Enum):
    """The type of `UNOBSERVED`: an enum of one member, so that type checkers narrow on it."""

    UNOBSERVED = "UNOBSERVED"

    def __repr__(self) -> str:
        return "UNOBSERVED"


UNOBSERVED: Final = Unobserved.UNOBSERVED
Seen: TypeAlias = T | Unobserved


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one node was refused: the first plugin that said no, and its reasons."""

    plugin: str
    reasons: tuple[str, ...]
    unresolvable: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One node on which preemption would make room, with the pods that would go."""

    victims: frozenset[PodKey]
    violations: Seen[int] = UNOBSERVED


@dataclass(frozen=True, slots=True)
class Preemption:
    """What the dry run found and what was then done about it.

    `nominated` and `deleted` are deeds, seen in the API; `best` is the set of nodes a scheduler says it may
    pick.
    """

    candidates: Seen[Mapping[NodeName, Candidate]] = UNOBSERVED
    nominated: Seen[NodeName | None] = UNOBSERVED
    deleted: Seen[frozenset[PodKey]] = UNOBSERVED
    best: Seen[frozenset[NodeName]] = UNOBSERVED


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer for one pod in one cluster state.

    `scores` are normalised and weighted, per node and plugin; `node` is the deed (the binding), `legal` the
    set of nodes a scheduler says it may pick;`message` is the PodScheduled condition's text and
    `event` the note of the Scheduled or FailedScheduling event, None when there is none.
    """

    pod: PodKey
    result: Result
    message: Seen[str | None] = UNOBSERVED
    event: Seen[str | None] = UNOBSERVED
    feasible: Seen[frozenset[NodeName]] = UNOBSERVED
    scores: Seen[Mapping[NodeName, Mapping[str, int]]] = UNOBSERVED
    totals: Seen[Mapping[NodeName, int]] = UNOBSERVED
    node: Seen[NodeName | None] = UNOBSERVED
    legal: Seen[frozenset[NodeName]] = UNOBSERVED
    refusals: Seen[Mapping[NodeName, Refusal]] = UNOBSERVED
    preemption: Seen[Preemption] = field(default=UNOBSERVED)

    @property
    def preempts(self) -> bool:
        """True if a node was promised to the pod, which others then leave."""
        return not isinstance(self.preemption, Unobserved) and isinstance(self.preemption.nominated, str)

    def to_json(self) -> dict[str, Any]:
        """The JSON form: sorted, without the fields that were not observed."""
        encoded = _encode(self)
        assert isinstance(encoded, dict)  # noqa: S101 - a dataclass always encodes to an object
        return encoded

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Decision:
        """The inverse of `to_json`. Raises KeyError for a missing pod or result."""
        return cls(
            pod=raw["pod"],
            result=raw["result"],
            message=raw.get("message", UNOBSERVED),
            event=raw.get("event", UNOBSERVED),
            feasible=_seen(raw, "feasible", frozenset),
            scores=raw.get("scores", UNOBSERVED),
            totals=raw.get("totals", UNOBSERVED),
            node=raw.get("node", UNOBSERVED),
            legal=_seen(raw, "legal", frozenset),
            refusals=_seen(raw, "refusals", _refusals),
            preemption=_seen(raw, "preemption", _preemption),
        )


def _seen(raw: Mapping[str, Any], key: str, decode: Callable[[Any], T]) -> Seen[T]:
    return decode(raw[key]) if key in raw else UNOBSERVED


def _refusals(raw: Mapping[str, Any]) -> dict[NodeName, Refusal]:
    return {
        node: Refusal(one["plugin"], tuple(one["reasons"]), one.get("unresolvable", False))
        for node, one in raw.items()
    }


def _candidates(raw: Mapping[str, Any]) -> dict[NodeName, Candidate]:
    return {
        node: Candidate(frozenset(one["victims"]), one.get("violations", UNOBSERVED))
        for node, one in raw.items()
    }


def _preemption(raw: Mapping[str, Any]) -> Preemption:
    return Preemption(
        candidates=_seen(raw, "candidates", _candidates),
        nominated=raw.get("nominated", UNOBSERVED),
        deleted=_seen(raw, "deleted", frozenset),
        best=_seen(raw, "best", frozenset),
    )


def _encode(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: _encode(value[key]) for key in sorted(value)}
    if isinstance(value, Decision | Preemption | Candidate | Refusal):
        pairs = ((one.name, getattr(value, one.name)) for one in fields(value))
        return {name: _encode(inner) for name, inner in pairs if inner is not UNOBSERVED}
    return value
