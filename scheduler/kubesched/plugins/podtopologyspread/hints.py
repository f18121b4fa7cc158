"""Which events may make a pod schedulable that PodTopologySpread rejected.

Follows the queueing hints of upstream `podtopologyspread/plugin.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from kubesched.api.objects import Node, Pod
from kubesched.framework import ClusterEventWithHint, Hint
from kubesched.plugins.podtopologyspread.constraints import Constraint
from kubesched.state.events import ActionType, ClusterEvent, Resource

ConstraintsOf: TypeAlias = Callable[[Pod], Sequence[Constraint]]


def events(constraints_of: ConstraintsOf) -> Sequence[ClusterEventWithHint]:
    """The events with hints that look at the constraints of the waiting pod."""
    pod = ActionType.Add | ActionType.UpdatePodLabel | ActionType.UpdatePodTolerations | ActionType.Delete
    node = ActionType.Add | ActionType.Delete | ActionType.UpdateNodeLabel | ActionType.UpdateNodeTaint
    return [
        ClusterEventWithHint(
            ClusterEvent(Resource.Pod, pod), lambda waiting, event: _after_pod(waiting, event, constraints_of)
        ),
        ClusterEventWithHint(
            ClusterEvent(Resource.Node, node),
            lambda waiting, event: _after_node(waiting, event, constraints_of),
        ),
    ]


def _after_pod(waiting: Pod, event: ClusterEvent, constraints_of: ConstraintsOf) -> Hint:
    """A pod in the namespace came, went, or began or ceased to match a selector."""
    old = event.old if isinstance(event.old, Pod) else None
    new = event.new if isinstance(event.new, Pod) else None
    if any(not _involved(pod, waiting) for pod in (old, new) if pod is not None):
        return Hint.Skip
    constraints = constraints_of(waiting)
    if old is not None and new is not None:
        return _after_update(waiting, old, new, constraints)
    changed = new or old
    matches = changed is not None and any(item.selector.matches(changed.labels) for item in constraints)
    return Hint.Queue if matches else Hint.Skip


def _after_update(waiting: Pod, old: Pod, new: Pod, constraints: Sequence[Constraint]) -> Hint:
    tolerates_more = waiting.uid == new.uid and new.spec.tolerations != old.spec.tolerations
    if tolerates_more and any(item.honors_taints for item in constraints):
        return Hint.Queue
    changed = any(
        item.selector.matches(old.labels) != item.selector.matches(new.labels) for item in constraints
    )
    return Hint.Queue if changed else Hint.Skip


def _involved(pod: Pod, waiting: Pod) -> bool:
    """Only the pod itself, and pods of its namespace with a node, count."""
    if pod.uid == waiting.uid:
        return True
    return bool(pod.node_name or pod.nominated_node_name) and pod.namespace == waiting.namespace


def _after_node(waiting: Pod, event: ClusterEvent, constraints_of: ConstraintsOf) -> Hint:
    """A node with all topology keys came or went, or its keys' values or taints changed."""
    constraints = constraints_of(waiting)
    old = event.old if isinstance(event.old, Node) else None
    new = event.new if isinstance(event.new, Node) else None
    was = old is not None and _has_keys(old.labels, constraints)
    is_now = new is not None and _has_keys(new.labels, constraints)
    if old is None or new is None:
        return Hint.Queue if was or is_now else Hint.Skip
    moved = any(old.labels.get(c.topology_key) != new.labels.get(c.topology_key) for c in constraints)
    changed = was != is_now or (is_now and (moved or old.taints != new.taints))
    return Hint.Queue if changed else Hint.Skip


def _has_keys(labels: Mapping[str, str], constraints: Sequence[Constraint]) -> bool:
    return all(item.topology_key in labels for item in constraints)
