"""Which pods an operation is about: one by name, or all that carry some labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from schedlab.api.objects import Object, Ref, ref_of
from schedlab.history.history import History
from schedlab.operations.base import NotYet, OperationError, Scope

PodName: TypeAlias = Annotated[str | None, Meta(description="The pod's name. This or `selector`.")]
PodLabels: TypeAlias = Annotated[
    dict[str, str] | None,
    Meta(description="Labels of the pods; all that carry them are meant. This or `pod`."),
]
PodNamespace: TypeAlias = Annotated[
    str | None, Meta(description="Where the pods are, instead of the test's namespace.")
]

UNSCHEDULABLE = "Unschedulable"


def select(
    history: History, scope: Scope, pod: str | None, selector: dict[str, str] | None, namespace: str | None
) -> list[Object]:
    """The pods that exist now.

    Raises:
        OperationError: neither or both ways of naming them are given.
    """
    if (pod is None) == (selector is None):
        raise OperationError("give either `pod` or `selector`", hint="one of the two, not both")
    where = namespace or scope.namespace
    if pod is not None:
        found = history.current.get("Pod", pod, where)
        return [found] if found else []
    return history.current.list("Pod", where, selector)


def subject(pod: str | None, selector: dict[str, str] | None) -> str:
    """The pods in words."""
    if pod is not None:
        return f"pod {pod}"
    return "pods with " + ",".join(f"{key}={value}" for key, value in (selector or {}).items())


def absent(expected: str) -> NotYet:
    """No such pod exists."""
    return NotYet(expected, "no such pod")


def node_of(pod: Object) -> str:
    """The node that a pod is bound to, or nothing."""
    return str((pod.get("spec") or {}).get("nodeName") or "")


def name_of(item: Object) -> str:
    """An object's name."""
    return ref_of(item).name


def refs(items: Sequence[Object]) -> tuple[Ref, ...]:
    """References to objects, at most ten: evidence, not an inventory."""
    return tuple(ref_of(item) for item in items[:10])


def condition(item: Object, kind: str) -> dict[str, Any] | None:
    """A condition of an object by its type."""
    for entry in (item.get("status") or {}).get("conditions") or []:
        if entry.get("type") == kind:
            return dict(entry)
    return None


def terminating(item: Object) -> bool:
    """True once deletion was asked for."""
    return bool(item["metadata"].get("deletionTimestamp"))


def finished(pod: Object) -> bool:
    """True if a pod has ended and takes no room any more."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def state_of(pod: Object) -> str:
    """A pod's state as a scheduler's user would tell it."""
    if node_of(pod):
        return f"bound to {node_of(pod)}"
    scheduled = condition(pod, "PodScheduled")
    if scheduled is None or scheduled.get("status") == "True":
        return "pending, no scheduler has said anything about it"
    return f"pending, {scheduled.get('reason')}: {scheduled.get('message')}"
