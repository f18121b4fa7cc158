"""Which events may make a pod schedulable that InterPodAffinity rejected.

Follows the queueing hints of upstream `interpodaffinity/plugin.go` (1.36). There, terms are matched without
any namespace labels; so a namespace selector counts only if it matches no labels.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubesched.api.objects import Node, Pod
from kubesched.framework import ClusterEventWithHint, Hint
from kubesched.plugins.interpodaffinity.terms import IncomingTerm, required_affinity, required_anti_affinity
from kubesched.state.events import ActionType, ClusterEvent, Resource


def events() -> Sequence[ClusterEventWithHint]:
    """Pods that come, go or change labels, and nodes that come or change domains."""
    pod = ClusterEvent(Resource.Pod, ActionType.Add | ActionType.UpdatePodLabel | ActionType.Delete)
    node = ClusterEvent(Resource.Node, ActionType.Add | ActionType.UpdateNodeLabel)
    return [ClusterEventWithHint(pod, after_pod), ClusterEventWithHint(node, after_node)]


def after_pod(waiting: Pod, event: ClusterEvent) -> Hint:
    """A pod began to be wanted near, ceased to be wanted far, or took its own aversion with it."""
    old = event.old if isinstance(event.old, Pod) else None
    new = event.new if isinstance(event.new, Pod) else None
    if old is not None and new is not None and new.uid == waiting.uid:
        return Hint.Queue
    if any(not (pod.node_name or pod.nominated_node_name) for pod in (old, new) if pod is not None):
        return Hint.Skip
    near, far = required_affinity(waiting), required_anti_affinity(waiting)
    if new is not None:
        came = _all_select(near, new) and (old is None or not _all_select(near, old))
        left = old is not None and _all_select(far, old) and not _all_select(far, new)
        return Hint.Queue if came or left else Hint.Skip
    if old is None:
        return Hint.Queue
    gone = _all_select(far, old) or _all_select(required_anti_affinity(old), waiting)
    return Hint.Queue if gone else Hint.Skip


def after_node(waiting: Pod, event: ClusterEvent) -> Hint:
    """A node brings a domain that may hold the pods, or leaves one that holds the wrong ones."""
    old = event.old if isinstance(event.old, Node) else None
    new = event.new
    if not isinstance(new, Node):
        return Hint.Skip
    near, far = required_affinity(waiting), required_anti_affinity(waiting)
    if old is None:
        helps = any(term.topology_key in new.labels for term in near) or bool(far)
    else:
        helps = any(_joins(old, new, term.topology_key) for term in near) or any(
            _leaves(old, new, term.topology_key) for term in far
        )
    return Hint.Queue if helps else Hint.Skip


def _joins(old: Node, new: Node, key: str) -> bool:
    return key in new.labels and old.labels.get(key) != new.labels[key]


def _leaves(old: Node, new: Node, key: str) -> bool:
    return key in old.labels and new.labels.get(key) != old.labels[key]


def _all_select(terms: Sequence[IncomingTerm], pod: Pod) -> bool:
    return bool(terms) and all(term.pods.matches(pod.namespace, pod.labels, {}) for term in terms)
