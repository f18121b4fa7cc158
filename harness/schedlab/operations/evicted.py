"""`evicted`: pods had to go, by the hand and at the time that are expected; or nobody had to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab import timing
from schedlab.api.objects import Object, matches_labels, ref_of
from schedlab.history.audit import Write
from schedlab.history.evictions import Eviction, Evictor, eviction
from schedlab.history.history import History
from schedlab.history.moments import began, written_at
from schedlab.operations.base import Assertion, Met, Never, NotYet, OperationError, Outcome, Scope
from schedlab.operations.matching import matches, mismatches
from schedlab.operations.selecting import PodLabels, PodName, PodNamespace, name_of, refs, state_of, subject
from schedlab.suite.types import BindingName, Duration, Natural


class Since(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The moment from which time counts: when an object last began to match, before the eviction."""

    node: Annotated[
        dict[str, Any] | None, Meta(description="The pod's node, in part: a taint, a condition.")
    ] = None
    pod: Annotated[
        dict[str, Any] | None, Meta(description="The pod, in part; `{}`: when it was created.")
    ] = None


class Spacing(Struct, forbid_unknown_fields=True, rename="camel", frozen=True, kw_only=True):
    """How long after the evictions on one node those on the next begin."""

    at_least: Annotated[Duration | None, Meta(description="Not sooner.")] = None
    at_most: Annotated[Duration | None, Meta(description="Not later.")] = None


class Evicted(Assertion, kw_only=True):
    """Pods have been evicted: marked with the reason, and asked to go or failed.

    All the pods that are named or selected, also those that are gone; or as many as `count` says, and no
    more: `count: 0` says that nobody was evicted, so give it `holds`. A pod that was evicted by another hand,
    too soon or too late fails at once. A preemption is no eviction (see `preempted`), a plain deletion
    neither.

    `after` and `before` bound the time between `since` and the eviction. Both ends are the API server's times
    of the writes (in the audit log, to the microsecond), not those of this program.

    ```yaml
    - evicted:
        selector: {app: web}
        count: 2
        by: TaintManager
        since: {node: {spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}}}
        after: 2s
        before: 3s
        event: {reason: TaintManagerEviction}
    - evicted: {selector: {app: daemon}, count: 0, holds: 2s}
    - evicted: {pod: hog, by: Kubelet, status: {phase: Failed, reason: Evicted}}
    ```
    """

    tag: ClassVar[str] = "evicted"

    pod: PodName = None
    selector: PodLabels = None
    namespace: PodNamespace = None
    count: Annotated[
        Natural | None, Meta(description="How many of them; 0: none. By default all, and at least one.")
    ] = None
    by: Annotated[
        Evictor | None,
        Meta(
            description="By whom: the taint manager, the eviction API, the kubelet, or the garbage "
            "collector of pods without a node."
        ),
    ] = None
    node: Annotated[str | None, Meta(description="The node that they were on.")] = None
    condition: Annotated[
        dict[str, Any], Meta(description="What each one's DisruptionTarget says, in part.")
    ] = struct_field(default_factory=dict)
    status: Annotated[dict[str, Any], Meta(description="Each one's last status, in part.")] = struct_field(
        default_factory=dict
    )
    event: Annotated[
        dict[str, Any] | None, Meta(description="An Event about each that must exist, in part.")
    ] = None
    since: Annotated[Since | None, Meta(description="From when `after` and `before` count.")] = None
    after: Annotated[Duration | None, Meta(description="The least time from `since` to the eviction.")] = None
    before: Annotated[Duration | None, Meta(description="The most time from `since` to the eviction.")] = None
    order: Annotated[
        list[str] | None, Meta(description="The names of the pods in the order in which they had to go.")
    ] = None
    spacing: Annotated[
        Spacing | None,
        Meta(description="The time between the first evictions of one node and the next: a zone's rate."),
    ] = None
    as_: Annotated[BindingName | None, Meta(description="Binds the names of the evicted pods, in order.")] = (
        struct_field(default=None, name="as")
    )

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met once all have gone as described; Never if one went otherwise, or too many did."""
        self._consistent()
        expected = self._expected()
        pods = self._pods(history, scope)
        found = [e for pod in pods if (e := eviction(history, ref_of(pod).uid)) is not None]
        found.sort(key=lambda entry: (entry.at, entry.version))
        wrong = self._excess(found) or self._mistimed(history, found) or self._disorder(found)
        if wrong:
            return Never(expected, wrong, objects=refs([entry.pod for entry in found]))
        lacking = self._lacking(history, pods, found) or self._undescribed(history, found)
        if lacking:
            return NotYet(expected, lacking, objects=refs(pods))
        names = [entry.ref.name for entry in found]
        return Met(_told(found) or "nobody evicted", refs([e.pod for e in found]), value=names)

    def _consistent(self) -> None:
        if (self.pod is None) == (self.selector is None):
            raise OperationError("give either `pod` or `selector`", hint="one of the two, not both")
        if (self.after or self.before) and self.since is None:
            raise OperationError("`after` and `before` count from `since`", hint="say from when")
        if self.since is not None and (self.since.node is None) == (self.since.pod is None):
            raise OperationError("give either `node` or `pod` in `since`", hint="one of the two, not both")

    def _expected(self) -> str:
        what = subject(self.pod, self.selector)
        if self.count is not None:
            what = f"{self.count or 'none'} of: {what}"
        by = f" by {self.by}" if self.by else ""
        where = f" on {self.node}" if self.node else ""
        bounds = [f"{word} {time}" for word, time in (("after", self.after), ("before", self.before)) if time]
        return f"{what} evicted{by}{where}" + (f" {' and '.join(bounds)}" if bounds else "")

    def _pods(self, history: History, scope: Scope) -> list[Object]:
        """The last state of each pod that is meant and ever was."""
        where = self.namespace or scope.namespace
        last = {r.uid: r.object for r in history if r.kind == "Pod" and r.ref.namespace == where}
        if self.pod is not None:
            return [pod for pod in last.values() if name_of(pod) == self.pod]
        return [pod for pod in last.values() if matches_labels(pod, self.selector or {})]

    def _excess(self, found: Sequence[Eviction]) -> str:
        """An eviction that is one too many, by somebody else, or elsewhere."""
        if self.count is not None and len(found) > self.count:
            return f"{len(found)} evicted: {_told(found)}"
        for entry in found:
            if self.by is not None and entry.by != self.by:
                return f"{entry.ref.name} was evicted by {entry.by}"
            if self.node is not None and entry.node != self.node:
                return f"{entry.ref.name} was on {entry.node or 'no node'}"
        return ""

    def _mistimed(self, history: History, found: Sequence[Eviction]) -> str:
        """An eviction that came too soon or too late."""
        return next((text for entry in found if (text := self._too_soon_or_late(history, entry))), "")

    def _too_soon_or_late(self, history: History, entry: Eviction) -> str:
        if self.since is None:
            return ""
        start = self._start(history, entry)
        if start is None:
            return f"{entry.ref.name} was evicted, but never was what `since` says"
        passed = (entry.at - start).total_seconds()
        text = f"{entry.ref.name} was evicted after {timing.format_duration(passed)}"
        if self.after is not None and passed < timing.parse_duration(self.after):
            return f"{text}, too soon"
        if self.before is not None and passed > timing.parse_duration(self.before):
            return f"{text}, too late"
        return ""

    def _start(self, history: History, entry: Eviction) -> datetime | None:
        """When that began from which time counts; before the eviction, however often it began."""
        if self.since is None:
            return None
        wanted, uid = self.since.pod, entry.ref.uid
        if wanted is None:
            wanted, uid = self.since.node or {}, _uid_of_node(history, entry.node)
        first = began(history, uid, lambda item: matches(wanted, item), before=entry.version)
        if first is None:
            return None
        new = first.type == "ADDED"
        return written_at(history, first, lambda write: _says(write, wanted, new=new))

    def _disorder(self, found: Sequence[Eviction]) -> str:
        """Evictions in another order, or nodes emptied too fast or too slowly."""
        names = [entry.ref.name for entry in found]
        if self.order is not None and names != self.order[: len(names)]:
            return f"the order was {', '.join(names)}"
        if self.spacing is None:
            return ""
        starts: dict[str, datetime] = {}
        for entry in found:
            starts.setdefault(entry.node, entry.at)
        nodes, times = list(starts), list(starts.values())
        least, most = self.spacing.at_least, self.spacing.at_most
        for index in range(1, len(times)):
            passed = (times[index] - times[index - 1]).total_seconds()
            text = f"{nodes[index]} followed {nodes[index - 1]} after {timing.format_duration(passed)}"
            if least is not None and passed < timing.parse_duration(least):
                return f"{text}, too soon"
            if most is not None and passed > timing.parse_duration(most):
                return f"{text}, too late"
        return ""

    def _lacking(self, history: History, pods: Sequence[Object], found: Sequence[Eviction]) -> str:
        """Pods that have not been evicted and should."""
        wanted = self.count if self.count is not None else max(len(pods), 1)
        if len(found) >= wanted:
            return ""
        gone = {entry.ref.uid for entry in found}
        rest = [pod for pod in pods if ref_of(pod).uid not in gone]
        told = "; ".join(f"{name_of(pod)} is {_now(history, pod)}" for pod in rest[:5])
        return (
            f"{len(found)} evicted" + (f": {_told(found)}" if found else "") + (f"; {told}" if told else "")
        )

    def _undescribed(self, history: History, found: Sequence[Eviction]) -> str:
        """What an evicted pod's condition, status or Events lack."""
        for entry in found:
            name = entry.ref.name
            for what, wanted, seen in (
                ("condition", self.condition, entry.condition),
                ("status", self.status, entry.pod.get("status")),
            ):
                wrong = next(mismatches(wanted, seen, path=what), None) if wanted else None
                if wrong is not None:
                    return f"{name}: {wrong}"
            if self.event is not None and not any(
                matches(self.event, event) for event in history.events(entry.ref)
            ):
                return f"no such event about {name}"
        return ""


def _told(found: Sequence[Eviction]) -> str:
    return ", ".join(f"{entry.ref.name} by {entry.by}" for entry in found)


def _now(history: History, pod: Object) -> str:
    return state_of(pod) if history.current.find(ref_of(pod)) else "gone without having been evicted"


def _says(write: Write, wanted: dict[str, Any], *, new: bool) -> bool:
    """True if a write may have made an object match: it says so itself, and creates it if it is new."""
    if new and (write.verb != "create" or write.subresource):
        return False
    return write.body is not None and matches(wanted, write.body)


def _uid_of_node(history: History, name: str) -> str:
    """The node that has a name now, or had it last."""
    nodes = [r.uid for r in history if r.kind == "Node" and r.ref.name == name]
    return nodes[-1] if nodes else ""
