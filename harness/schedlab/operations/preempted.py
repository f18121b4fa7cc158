"""`preempted`: one pod has displaced others, in the way that a scheduler announces it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab.api.objects import Object, matches_labels, ref_of
from schedlab.history.history import History
from schedlab.operations.base import Assertion, Met, Never, NotYet, OperationError, Outcome, Scope
from schedlab.operations.matching import matches
from schedlab.operations.selecting import condition, name_of, node_of, refs, terminating
from schedlab.suite.types import Natural, Positive

EVENT = "Preempted"
CONDITION = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


class Preemptor(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The pod for whose sake others had to go."""

    pod: Annotated[str, Meta(description="Its name.")]
    namespace: Annotated[str | None, Meta(description="Where it is, instead of the test's namespace.")] = None


class Victims(Struct, forbid_unknown_fields=True, rename="camel", frozen=True, kw_only=True):
    """Which pods had to go; without anything, at least one pod."""

    names: Annotated[list[str] | None, Meta(description="These very pods, and no other.")] = None
    selector: Annotated[dict[str, str], Meta(description="Labels that every victim carries.")] = struct_field(
        default_factory=dict
    )
    count: Annotated[Natural | None, Meta(description="How many they are; 0: nobody had to go.")] = None
    at_least: Annotated[Positive | None, Meta(description="How many they are at least.")] = None

    @property
    def most(self) -> int | None:
        """The number of victims that may not be exceeded, if there is one."""
        return len(self.names) if self.names is not None else self.count

    @property
    def fewest(self) -> int:
        """The number of victims that has to be reached."""
        return self.most if self.most is not None else self.at_least or 1


class Survivors(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Which pods are still there: bound, not terminating, and told of no disruption."""

    names: Annotated[list[str], Meta(description="Pods by name.")] = struct_field(default_factory=list)
    selector: Annotated[dict[str, str] | None, Meta(description="All pods that carry these labels.")] = None
    count: Annotated[Positive | None, Meta(description="How many pods the selector must find.")] = None


@dataclass(frozen=True, slots=True)
class Displaced:
    """A victim: its last state and the Event that tells of it."""

    pod: Object
    event: Object

    @property
    def name(self) -> str:
        """The victim's name."""
        return name_of(self.pod)


class Preempted(Assertion, kw_only=True):
    """A pod has preempted others, and everything that a scheduler has to say about that was said.

    Victims are the pods with an Event `Preempted` whose note names the preemptor. Each must have got the
    condition DisruptionTarget with reason PreemptionByScheduler before it went, and its Event must read as
    kube-scheduler's: `Preempted by pod UID on node NODE`. A victim too many, one on another node or a
    survivor that is going fails at once; a preemption that goes on in `holds` does, too. `count: 0` says that
    the pod has displaced nobody. As long as a pod has the condition and no Event says for whom, nothing is
    met: after `scheduled` of the preemptor no victim is missed.

    ```yaml
    - preempted:
        by: {pod: urgent}
        node: ($gpu[0])
        victims: {selector: {tier: batch}, count: 1}   # or names: [batch-0], or atLeast: 2
        survivors: {selector: {tier: serving}, count: 3}
        nominated: true
    - preempted: {by: {pod: patient}, victims: {count: 0}, holds: 2s}
    ```
    """

    tag: ClassVar[str] = "preempted"

    by: Annotated[Preemptor, Meta(description="The preemptor: `{pod: NAME}`.")]
    node: Annotated[str | None, Meta(description="The node that all victims were on.")] = None
    node_in: Annotated[list[str] | None, Meta(description="The nodes that they may have been on.")] = None
    victims: Annotated[Victims, Meta(description="Who had to go; by default at least one pod.")] = (
        struct_field(default_factory=Victims)
    )
    survivors: Annotated[
        Survivors | None,
        Meta(description="Who must still be bound, not terminating and not told of any disruption."),
    ] = None
    condition: Annotated[
        dict[str, Any],
        Meta(description="More that each victim's DisruptionTarget condition said, such as its `message`."),
    ] = struct_field(default_factory=dict)
    nominated: Annotated[
        bool | None,
        Meta(
            description="true: the preemptor's status.nominatedNodeName named the victims' node at some "
            "time; false: it has never named any node."
        ),
    ] = None

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met once all victims are announced and marked; Never if one is, or went, that should not."""
        self._consistent()
        expected = self._expected()
        preemptor = _latest(history, self.by.namespace or scope.namespace, self.by.pod)
        if preemptor is None:
            return NotYet(expected, f"there is no pod {self.by.pod}")
        victims = list(_victims(history, preemptor))
        spared = self._spared(history, scope)
        wrong = self._excess(victims) or self._misplaced(victims, preemptor) or _gone(history, spared)
        if wrong:
            return Never(expected, wrong, objects=refs([victim.pod for victim in victims]))
        lacking = (
            _unannounced(history)
            or self._lacking(victims)
            or self._unmarked(history, victims)
            or self._uncounted(spared)
        )
        if lacking:
            return NotYet(expected, lacking, history.since(preemptor), refs([preemptor]))
        return self._nomination(history, preemptor, victims, expected)

    def _consistent(self) -> None:
        given = [self.victims.names is not None, self.victims.count is not None, bool(self.victims.at_least)]
        if sum(given) > 1:
            raise OperationError("victims: give one of `names`, `count` and `atLeast`")
        if self.nominated and self.victims.fewest == 0:
            raise OperationError("without victims there is no node to be nominated to", hint="leave it out")

    def _expected(self) -> str:
        wanted = self.victims
        if wanted.names is not None:
            who = ", ".join(wanted.names) or "nobody"
        elif wanted.count is not None:
            who = f"{wanted.count} pods"
        else:
            who = f"at least {wanted.fewest} pods"
        labels = ",".join(f"{key}={value}" for key, value in wanted.selector.items())
        where = self.node or " or ".join(self.node_in or [])
        return (
            f"pod {self.by.pod} to have preempted {who}"
            + (f" with {labels}" if labels else "")
            + (f" on {where}" if where else "")
            + (", nominated there" if self.nominated else "")
            + (", never nominated" if self.nominated is False else "")
            + (", with survivors" if self.survivors else "")
        )

    def _excess(self, victims: Sequence[Displaced]) -> str:
        """Victims that should not be."""
        wanted = self.victims
        names = sorted({victim.name for victim in victims})
        strangers = [name for name in names if wanted.names is not None and name not in wanted.names]
        if strangers:
            return f"{', '.join(strangers)} preempted, too"
        others = [v.name for v in victims if not matches_labels(v.pod, wanted.selector)]
        if others:
            return f"{', '.join(others)} preempted, without these labels"
        if wanted.most is not None and len(names) > wanted.most:
            return f"{len(names)} preempted: {', '.join(names)}"
        return ""

    def _misplaced(self, victims: Sequence[Displaced], preemptor: Object) -> str:
        """A victim from elsewhere, or an Event that reads otherwise."""
        allowed = [self.node] if self.node is not None else self.node_in
        for victim in victims:
            node = node_of(victim.pod)
            if allowed is not None and node not in allowed:
                return f"{victim.name} was on {node or 'no node'}"
            text = f"Preempted by pod {ref_of(preemptor).uid} on node {node}"
            if victim.event.get("note") != text:
                return f"the event of {victim.name} reads {victim.event.get('note')!r}, not {text!r}"
        return ""

    def _lacking(self, victims: Sequence[Displaced]) -> str:
        """Victims that are missing."""
        names = sorted({victim.name for victim in victims})
        if len(names) >= self.victims.fewest:
            return ""
        return f"{len(names)} preempted: {', '.join(names)}" if names else "it has preempted nobody"

    def _unmarked(self, history: History, victims: Sequence[Displaced]) -> str:
        """A victim that was not told why it had to go."""
        wanted = {**CONDITION, **self.condition}
        for victim in victims:
            marks = [
                condition(revision.object, CONDITION["type"])
                for revision in history.revisions(ref_of(victim.pod).uid)
            ]
            if not any(mark is not None and matches(wanted, mark) for mark in marks):
                last = next((mark for mark in reversed(marks) if mark), None)
                return f"{victim.name} has had the condition {last}, not {wanted}"
        return ""

    def _spared(self, history: History, scope: Scope) -> list[tuple[str, Object | None]]:
        """The survivors with their last state; those of the selector that ever were."""
        if self.survivors is None:
            return []
        named = [(name, _latest(history, scope.namespace, name)) for name in self.survivors.names]
        if self.survivors.selector is None:
            return named
        pods = _ever(history, scope.namespace)
        return named + [
            (name_of(pod), pod)
            for pod in pods
            if node_of(pod) and matches_labels(pod, self.survivors.selector)
        ]

    def _uncounted(self, spared: Sequence[tuple[str, Object | None]]) -> str:
        """Survivors that are missing, though none has gone."""
        if self.survivors is None:
            return ""
        absent = [name for name, pod in spared if pod is None or not node_of(pod)]
        if absent:
            return f"{', '.join(absent)} is not bound"
        selected = len(spared) - len(self.survivors.names)
        if self.survivors.count is not None and selected != self.survivors.count:
            return f"{selected} survivors are bound, not {self.survivors.count}"
        return ""

    def _nomination(
        self, history: History, preemptor: Object, victims: Sequence[Displaced], expected: str
    ) -> Outcome:
        """What was seen of status.nominatedNodeName, in any revision of the preemptor."""
        revisions = history.revisions(ref_of(preemptor).uid)
        seen = list(dict.fromkeys(name for r in revisions if (name := _nominated(r.object))))
        told = f"nominated to {', '.join(seen)}" if seen else "never nominated"
        if self.nominated is False and seen:
            return Never(expected, told, objects=refs([preemptor]))
        missing = {node_of(victim.pod) for victim in victims} - set(seen)
        if self.nominated and missing:
            verdict = Never if node_of(preemptor) else NotYet
            return verdict(expected, told, objects=refs([preemptor]))
        names = ", ".join(sorted({victim.name for victim in victims})) or "nobody"
        return Met(f"{names} preempted; {told}", refs([victim.pod for victim in victims]))


def _victims(history: History, preemptor: Object) -> Iterator[Displaced]:
    """The pods with an Event `Preempted` whose note names the preemptor.

    Its `related` does not help: kube-scheduler 1.36 leaves it out, since it hands the recorder a wrapper.
    """
    uid = ref_of(preemptor).uid
    for event in history.current.list("Event.events.k8s.io"):
        if event.get("reason") != EVENT or uid not in str(event.get("note")):
            continue
        revisions = history.revisions((event.get("regarding") or {}).get("uid", ""))
        if revisions:
            yield Displaced(revisions[-1].object, event)


def _unannounced(history: History) -> str:
    """A pod that was told of a preemption, of which no Event says for whose sake it is."""
    events = history.current.list("Event.events.k8s.io")
    known = {(e.get("regarding") or {}).get("uid") for e in events if e.get("reason") == EVENT}
    for revision in history:
        mark = condition(revision.object, CONDITION["type"]) if revision.kind == "Pod" else None
        if mark is not None and matches(CONDITION, mark) and revision.uid not in known:
            return f"{revision.ref.name} has to go, and no event says for whom"
    return ""


def _ever(history: History, namespace: str) -> list[Object]:
    """The last state of each pod of a namespace that ever was, deleted ones as they went."""
    last = {r.uid: r.object for r in history if r.kind == "Pod" and r.ref.namespace == namespace}
    return list(last.values())


def _latest(history: History, namespace: str, name: str) -> Object | None:
    """The last state of the pod that has a name now, or had it last."""
    return next((pod for pod in reversed(_ever(history, namespace)) if name_of(pod) == name), None)


def _gone(history: History, spared: Sequence[tuple[str, Object | None]]) -> str:
    """A survivor that has been deleted, is going, or was told that it would."""
    for name, pod in spared:
        if pod is None:
            continue
        marked = condition(pod, CONDITION["type"])
        if not history.current.find(ref_of(pod)):
            return f"{name} is gone"
        if terminating(pod) or (marked or {}).get("status") == "True":
            return f"{name} is going"
    return ""


def _nominated(pod: Object) -> str:
    return str((pod.get("status") or {}).get("nominatedNodeName") or "")
