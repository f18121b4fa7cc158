"""`unschedulable`: pods stay pending, for the expected reasons."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from schedlab.api.objects import Object, ref_of
from schedlab.history.history import History
from schedlab.operations import messages
from schedlab.operations.base import Assertion, Met, Never, NotYet, Outcome, Scope
from schedlab.operations.selecting import (
    PodLabels,
    PodName,
    PodNamespace,
    absent,
    condition,
    name_of,
    node_of,
    refs,
    select,
    state_of,
    subject,
)
from schedlab.suite.types import Natural, Positive


class Unschedulable(Assertion):
    """The pods are not bound, and their PodScheduled condition says why.

    `because` is the whole set of reasons with the number of nodes that gave each: a reason too many fails,
    too. Order does not matter. What follows the counted reasons (what preemption found) is not compared; for
    the complete text there is `message`. A pod that gets bound fails at once.

    ```yaml
    - unschedulable:
        pod: trainer
        nodes: 3
        because:
          Insufficient nvidia.com/gpu: 2
          node(s) had untolerated taint(s): 1
        holds: 3s
    ```
    """

    tag: ClassVar[str] = "unschedulable"

    pod: PodName = None
    selector: PodLabels = None
    namespace: PodNamespace = None
    count: Annotated[
        Positive | None, Meta(description="How many pods the selector must find; by default at least one.")
    ] = None
    reason: Annotated[
        Literal["Unschedulable", "SchedulingGated", "SchedulerError"],
        Meta(description="The reason of the PodScheduled condition."),
    ] = "Unschedulable"
    nodes: Annotated[Natural | None, Meta(description="The N of `0/N nodes are available`.")] = None
    because: Annotated[
        dict[str, int] | None,
        Meta(description="Every reason with the number of nodes that gave it, and no other."),
    ] = None
    message: Annotated[str | None, Meta(description="The whole message, to the character.")] = None
    nominated_node_name: Annotated[
        str | None, Meta(description="The pod's status.nominatedNodeName; empty text for none.")
    ] = None

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met once all selected pods say so; Never if one is bound."""
        pods = select(history, scope, self.pod, self.selector, self.namespace)
        expected = self._expected()
        for pod in pods:
            if node_of(pod):
                moment = history.became(ref_of(pod).uid, lambda item: bool(node_of(item)))
                return Never(expected, f"{name_of(pod)} is {state_of(pod)}", moment, refs([pod]))
        if not pods:
            return absent(expected)
        if self.count is not None and len(pods) != self.count:
            return NotYet(expected, f"{len(pods)} pods exist", objects=refs(pods))
        for pod in pods:
            wrong = self._wrong(pod)
            if wrong:
                moment = self._since(history, pod, wrong)
                return NotYet(expected, f"{name_of(pod)}: {wrong}", moment, refs([pod]))
        return Met("; ".join(f"{name_of(pod)} is {state_of(pod)}" for pod in pods[:3]), refs(pods))

    def _since(self, history: History, pod: Object, wrong: str) -> datetime | None:
        return history.became(ref_of(pod).uid, lambda item: self._wrong(item) == wrong)

    def _expected(self) -> str:
        parts = [f"{subject(self.pod, self.selector)} pending with reason {self.reason}"]
        if self.nodes is not None:
            parts.append(f"0/{self.nodes} nodes available")
        if self.because is not None:
            parts.append("because " + _reasons(self.because))
        if self.message is not None:
            parts.append(f"message {self.message!r}")
        if self.nominated_node_name is not None:
            parts.append(f"nominated node {self.nominated_node_name or 'none'}")
        return ", ".join(parts)

    def _wrong(self, pod: Object) -> str:
        """What a pending pod lacks of what is expected, or nothing."""
        stated = condition(pod, "PodScheduled")
        if stated is None or stated.get("status") != "False" or stated.get("reason") != self.reason:
            return state_of(pod)
        message = str(stated.get("message") or "")
        if self.message is not None and message != self.message:
            return f"the message is {message!r}"
        return self._misdiagnosed(message) or self._misnominated(pod)

    def _misdiagnosed(self, message: str) -> str:
        diagnosis = messages.parse(message)
        if self.nodes is not None and diagnosis.nodes != self.nodes:
            return (
                f"{diagnosis.nodes if diagnosis.nodes is not None else 'no number of'} nodes in {message!r}"
            )
        if self.because is not None and diagnosis.because != self.because:
            return f"because {_reasons(diagnosis.because)}, in {message!r}"
        return ""

    def _misnominated(self, pod: Object) -> str:
        seen = str((pod.get("status") or {}).get("nominatedNodeName") or "")
        if self.nominated_node_name is not None and seen != self.nominated_node_name:
            return f"the nominated node is {seen or 'none'}"
        return ""


def _reasons(because: dict[str, Any]) -> str:
    return (
        ", ".join(f"{count} {text}" for text, count in sorted(because.items()))
        or "of nothing that counts nodes"
    )
