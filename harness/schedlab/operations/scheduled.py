"""`scheduled`: pods are bound, to the right nodes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from schedlab.api.objects import Json, Object, ref_of
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.operations.base import Assertion, Met, Never, NotYet, Outcome, Scope
from schedlab.operations.matching import matches
from schedlab.operations.selecting import (
    PodLabels,
    PodName,
    PodNamespace,
    absent,
    name_of,
    node_of,
    refs,
    select,
    state_of,
    subject,
)
from schedlab.suite.types import Positive


class Scheduled(Assertion):
    """The pods are bound, each to a node that is allowed.

    Without any of `node`, `nodeIn` and `nodeLabels`, any node will do. A binding is final, so a pod on the
    wrong node fails at once. Where several nodes are equally good a scheduler may take any: name all of them
    in `nodeIn`.

    ```yaml
    - scheduled: {pod: trainer, node: "($gpu[0])", within: 10s}
    - scheduled: {selector: {app: web}, count: 3, nodeIn: ($cpu)}
    - scheduled: {pod: trainer, nodeLabels: {topology.kubernetes.io/zone: zone-a}, event: {reason: Scheduled}}
    ```
    """

    tag: ClassVar[str] = "scheduled"

    pod: PodName = None
    selector: PodLabels = None
    namespace: PodNamespace = None
    count: Annotated[
        Positive | None, Meta(description="How many pods the selector must find; by default at least one.")
    ] = None
    node: Annotated[str | None, Meta(description="The node that each pod must be on.")] = None
    node_in: Annotated[list[str] | None, Meta(description="The nodes that are all right.")] = None
    node_labels: Annotated[
        dict[str, str] | None, Meta(description="Labels that each pod's node must have.")
    ] = None
    event: Annotated[
        dict[str, Any] | None,
        Meta(
            description="An Event about each pod that must exist, matched partially: `{reason: Scheduled}`."
        ),
    ] = None
    once: Annotated[
        bool,
        Meta(description="Each pod was bound once, and no second binding was asked for (needs `audit`)."),
    ] = False

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met once all selected pods are bound where they may be; Never if one is bound elsewhere."""
        pods = select(history, scope, self.pod, self.selector, self.namespace)
        expected = self._expected()
        for pod in pods:
            wrong = self._misplaced(history, pod) if node_of(pod) else ""
            if wrong:
                return Never(
                    expected,
                    f"{name_of(pod)} is {state_of(pod)}{wrong}",
                    _bound_at(history, pod),
                    refs([pod]),
                )
        if not pods:
            return absent(expected)
        if self.count is not None and len(pods) != self.count:
            return NotYet(expected, f"{len(pods)} pods exist", objects=refs(pods))
        pending = [pod for pod in pods if not node_of(pod)]
        if pending:
            return NotYet(expected, _waiting(pending, len(pods)), history.since(pending[0]), refs(pending))
        return self._announced(history, pods, expected)

    def _expected(self) -> str:
        who = (
            subject(self.pod, self.selector)
            if self.count is None
            else f"{self.count} {subject(None, self.selector)}"
        )
        where = ""
        if self.node is not None:
            where = f" to {self.node}"
        elif self.node_in is not None:
            where = f" to one of {', '.join(self.node_in)}"
        elif self.node_labels:
            where = " to a node with " + ",".join(f"{k}={v}" for k, v in self.node_labels.items())
        return (
            f"{who} bound{where}"
            + (f" with an event {self.event}" if self.event else "")
            + (", once" if self.once else "")
        )

    def _misplaced(self, history: History, pod: Object) -> str:
        """Why a pod's node is wrong, or nothing."""
        name = node_of(pod)
        if self.node is not None and name != self.node:
            return f", not to {self.node}"
        if self.node_in is not None and name not in self.node_in:
            return f", not to any of {', '.join(self.node_in)}"
        if self.node_labels:
            node = history.current.get("Node", name)
            labels = (node or {}).get("metadata", {}).get("labels") or {}
            lacking = [f"{k}={v}" for k, v in self.node_labels.items() if labels.get(k) != v]
            if node is not None and lacking:
                return f", which lacks the label {lacking[0]}"
        return ""

    def _announced(self, history: History, pods: list[Object], expected: str) -> Outcome:
        for pod in pods:
            if self.event is not None and not any(
                matches(self.event, e) for e in history.events(ref_of(pod))
            ):
                seen = sorted({str(event.get("reason")) for event in history.events(ref_of(pod))})
                return NotYet(
                    expected,
                    f"{name_of(pod)} has events {', '.join(seen) or 'none'}",
                    _bound_at(history, pod),
                    refs([pod]),
                )
            if self.once:
                asked = _bindings(history, pod)
                if asked > 1:
                    return Never(
                        expected,
                        f"{name_of(pod)} was bound {asked} times",
                        _bound_at(history, pod),
                        refs([pod]),
                    )
        return Met("; ".join(f"{name_of(pod)} on {node_of(pod)}" for pod in pods[:10]), refs(pods))


def _waiting(pending: list[Object], total: int) -> str:
    first = f"{name_of(pending[0])} is {state_of(pending[0])}"
    return first if total == 1 else f"{len(pending)} of {total} are not bound: {first}"


def _bound_at(history: History, pod: Object) -> Json:
    return history.became(ref_of(pod).uid, lambda item: bool(node_of(item)))


def _bindings(history: History, pod: Object) -> int:
    """How often a pod was bound: changes of its node, or requests to bind it, whichever is more."""
    ref = ref_of(pod)
    changes = sum(
        1
        for before, after in _steps(history.revisions(ref.uid))
        if node_of(after) and before != node_of(after)
    )
    asked = sum(
        1
        for write in history.writes(verb="create")
        if write.resource == "pods"
        and write.subresource == "binding"
        and (write.namespace, write.name) == (ref.namespace, ref.name)
        and write.code != 429
    )
    return max(changes, asked)


def _steps(revisions: Json) -> list[tuple[str, Object]]:
    """Each revision with the node before it."""
    steps: list[tuple[str, Object]] = []
    before = ""
    revision: Revision
    for revision in revisions:
        steps.append((before, revision.object))
        before = node_of(revision.object)
    return steps
