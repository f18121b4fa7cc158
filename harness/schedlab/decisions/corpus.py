"""Recorded cases on disk: a cluster state, the pods that arrived in it in turn, and what was decided.

A corpus file holds one JSON object per line, gzipped if its name ends in `.gz`. Objects are as the API stores
them, in arrival order, without the fields that no scheduler reads. Later states of a case are kept as
changes, so a case of twenty decisions is not twenty copies of a cluster.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedlab.decisions.decision import Decision
from schedlab.errors import UsageError

VERSION = 1
Object = dict[str, Any]
Identity = tuple[str, str, str]

_UNREAD_METADATA = ("managedFields", "resourceVersion", "selfLink")


@dataclass(frozen=True, slots=True)
class Change:
    """One object that appeared, changed or went, as a watch reports it."""

    type: str
    object: Object


@dataclass(frozen=True, slots=True)
class Step:
    """One decision: the pod as stored when it arrived, the answer, and what then changed in the API."""

    pod: Object
    decision: Decision
    after: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A cluster state and the decisions made in it, in order.

    `reference` is the scheduler and version that decided; `seed` and `features` say how the case was
    generated; `source` is free text about where it came from; `config` is the scheduler's
    configuration, {} for the default.
    """

    reference: str
    objects: tuple[Object, ...]
    steps: tuple[Step, ...]
    seed: int | None = None
    features: tuple[str, ...] = ()
    source: str = ""
    name: str = ""
    config: Object = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """One decision unrolled: the whole state it was made in, the pod, and the answer."""

    objects: list[Object]
    pod: Object
    decision: Decision

    def to_explain(self) -> dict[str, Any]:
        """The line that asks a scheduler's `explain` for the same decision."""
        return {"objects": self.objects, "pod": self.pod}


def identity(obj: Mapping[str, Any]) -> Identity:
    """What makes an object that object: kind, namespace, name."""
    meta = obj["metadata"]
    return obj["kind"], meta.get("namespace", ""), meta["name"]


def trimmed(obj: Mapping[str, Any]) -> Object:
    """The object without the bookkeeping that no scheduler reads."""
    slim = dict(obj)
    slim["metadata"] = {key: value for key, value in obj["metadata"].items() if key not in _UNREAD_METADATA}
    return slim


def apply(state: dict[Identity, Object], change: Change) -> None:
    """Bring a state up to date; a pod that becomes bound moves to the end, as in a scheduler's cache."""
    key = identity(change.object)
    if change.type == "DELETED":
        state.pop(key, None)
        return
    before = state.get(key)
    newly_bound = (
        before is not None
        and key[0] == "Pod"
        and not before["spec"].get("nodeName")
        and change.object["spec"].get("nodeName")
    )
    if newly_bound:
        del state[key]
    state[key] = change.object


def unroll(case: Case) -> Iterator[Question]:
    """Each decision of a case with the state it was made in; questions share their objects."""
    state = {identity(obj): obj for obj in case.objects}
    for step in case.steps:
        yield Question(list(state.values()), step.pod, step.decision)
        for change in step.after:
            apply(state, change)


def single(question: Question, case: Case, source: str = "") -> Case:
    """A case of one decision, cut out of a longer one."""
    return Case(
        reference=case.reference,
        objects=tuple(copy.deepcopy(question.objects)),
        steps=(Step(copy.deepcopy(question.pod), question.decision),),
        seed=case.seed,
        features=case.features,
        source=source or case.source,
        config=case.config,
    )


def dump(case: Case) -> str:
    """One corpus line, without the newline."""
    steps = [
        {
            "pod": step.pod,
            "decision": step.decision.to_json(),
            "after": [{"type": change.type, "object": change.object} for change in step.after],
        }
        for step in case.steps
    ]
    raw = {
        "version": VERSION,
        "name": case.name,
        "reference": case.reference,
        "source": case.source,
        "config": case.config,
        "seed": case.seed,
        "features": list(case.features),
        "objects": list(case.objects),
        "steps": steps,
    }
    return json.dumps(raw, separators=(",", ":"), ensure_ascii=False)


def load(line: str, *, where: str = "corpus") -> Case:
    """The inverse of `dump`; raises UsageError, naming `where`, for anything else."""
    try:
        raw = json.loads(line)
        if raw["version"] != VERSION:
            raise UsageError(
                f"{where}: corpus version {raw['version']}, this schedlab reads {VERSION}",
                hint="record the corpus anew with `schedlab record`",
            )
        steps = tuple(
            Step(
                one["pod"],
                Decision.from_json(one["decision"]),
                tuple(Change(change["type"], change["object"]) for change in one["after"]),
            )
            for one in raw["steps"]
        )
        return Case(
            reference=raw["reference"],
            objects=tuple(raw["objects"]),
            steps=steps,
            seed=raw["seed"],
            features=tuple(raw["features"]),
            source=raw["source"],
            config=raw.get("config", {}),
            name=raw["name"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{where}: not a recorded case: {error!r}", hint="write corpus files with `schedlab record` only"
        ) from error


def read(path: Path) -> Iterator[Case]:
    """All cases of a corpus file, one at a time."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield load(line, where=f"{path}:{number}")


def write(path: Path, cases: Iterable[Case]) -> int:
    """Write cases to a file and return how many; equal cases make equal files, also gzipped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with path.open("wb") as raw:
        sink = gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") if path.suffix == ".gz" else raw
        for case in cases:
            sink.write(dump(case).encode() + b"\n")
            count += 1
        if sink is not raw:
            sink.close()
    return count
