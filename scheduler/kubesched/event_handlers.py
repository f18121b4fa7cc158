"""What a change in the cluster means: for the state, for the queue, for the pods that wait.

Assigned pods, nodes and everything else go to the state; unassigned pods of our profiles go to the queue;
what happened is shown to the waiting pods, whose plugins said which events may help them. Follows
`pkg/scheduler/eventhandlers.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kubesched import logs
from kubesched.api.objects import Object, Pod
from kubesched.client.intake import Change
from kubesched.client.known import Kind
from kubesched.queue.entry import Place
from kubesched.schedule_one import Core
from kubesched.state.events import (
    ASSIGNED_POD_DELETE,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_DELETE,
    UNSCHEDULED_POD_UPDATE,
    ActionType,
    ClusterEvent,
    Resource,
    WatchEvent,
)

_log = logs.get(__name__)


# Hears how many seconds an event took, by its name; for metrics.
Observe = Callable[[str, float], None]

_ADDED = UNSCHEDULED_POD_ADD.title
_UPDATED = UNSCHEDULED_POD_UPDATE.title
_DELETED = UNSCHEDULED_POD_DELETE.title


def apply(core: Core, changes: Iterable[Change], observe: Observe | None = None) -> None:
    """Take over changes in order. One that cannot be taken over is said, and the others go on."""
    for change in changes:
        started = core.clock.now()
        try:
            happened = _apply_one(core, change)
        except Exception as failure:  # noqa: BLE001 - what a tenant wrote must not stop the scheduler
            _log.error("Cannot take over a change", failure, type=change.type, kind=change.object.kind,
                       key=change.object.key, exception=type(failure).__name__)  # fmt: skip
            continue
        if observe is not None:
            seconds = core.clock.now() - started
            for title in happened:
                observe(title, seconds)


def _apply_one(core: Core, change: Change) -> Sequence[str]:
    """Take over one change; the names of the events that it meant."""
    if not isinstance(change.object, Pod):
        return _to_state(core, change.type, change.object)
    if change.type == "ADDED":
        return _add_pod(core, change.object)
    if not isinstance(change.old, Pod):
        raise TypeError(f"{change.type} without the pod as it was")
    if change.type == "MODIFIED":
        return _update_pod(core, change.old, change.object)
    return _delete_pod(core, change.old, change.object)


def _to_state(core: Core, kind: Kind, obj: Object) -> Sequence[str]:
    events = core.cluster.apply(WatchEvent(kind, obj))
    for event in events:
        core.queue.move_all(event)
    return [event.title for event in events]


def _add_pod(core: Core, pod: Pod) -> Sequence[str]:
    if pod.node_name:
        return _to_state(core, "ADDED", pod)
    if not _is_ours(core, pod):
        return ()
    _log.info("Add event for unscheduled pod", v=3, pod=pod.key)
    core.queue.add(pod)
    if core.queue.where(pod.uid) is Place.ACTIVE:
        # Upstream nominates a pod that becomes active; a gated one claims no place yet.
        core.cluster.nominated.add(pod)
    return (_ADDED,)


def _update_pod(core: Core, old: Pod, new: Pod) -> Sequence[str]:
    if old.node_name:
        return _to_state(core, "MODIFIED", new)
    if new.node_name:
        happened = _to_state(core, "ADDED", new)
        if _is_ours(core, old):
            # Bound, usually by us. If by somebody else, it leaves the queue, and an attempt under way fails.
            core.queue.delete(old)
        return happened
    return _update_waiting_pod(core, old, new) if _is_ours(core, old) else ()


def _update_waiting_pod(core: Core, old: Pod, new: Pod) -> Sequence[str]:
    queued_at = core.queue.where(new.uid)
    if core.cluster.is_assumed(new.uid):
        if queued_at is Place.IN_FLIGHT:
            core.queue.update(old, new)  # what comes back, should the binding fail
        if new.is_terminating and not old.is_terminating:
            _assumed_pod_vanishes(core, new)
        return (_UPDATED,)
    core.queue.update(old, new)
    if queued_at is not Place.IN_FLIGHT:
        core.cluster.nominated.update(old, new)
    if old.nominated_node_name and old.nominated_node_name != new.nominated_node_name:
        _free_nomination(core, old)
    return (_UPDATED,)


def _delete_pod(core: Core, old: Pod, last: Pod) -> Sequence[str]:
    """Forget a pod wherever it may be: the last word about it may have skipped its binding."""
    happened: Sequence[str] = ()
    if old.node_name or last.node_name:
        happened = _to_state(core, "DELETED", last)
    if old.node_name or not _is_ours(core, old):
        return happened
    _log.info("Delete event for unscheduled pod", v=3, pod=old.key)
    core.queue.delete(old)
    core.cluster.nominated.delete(old.uid)
    if core.cluster.is_assumed(old.uid):
        _assumed_pod_vanishes(core, old)
    elif old.nominated_node_name:
        _free_nomination(core, old)
    return (*happened, _DELETED)


def _assumed_pod_vanishes(core: Core, pod: Pod) -> None:
    """Free an assumed pod's place at once, before its binding notices and fails.

    A pod that waits at Permit is rejected there; its own binding cycle then cleans up.
    """
    held = core.cluster.get("Pod", pod.key) or pod
    framework = core.profiles.get(pod.scheduler_name)
    if framework is None or not framework.waiting_pods.reject(pod.uid):
        core.cluster.forget(pod.uid)
    core.queue.move_all(ClusterEvent(Resource.AssignedPod, ActionType.Delete, old=held))


def _free_nomination(core: Core, pod: Pod) -> None:
    """Pods of lower or equal priority treated the nominated pod as if it were there."""
    gone = ClusterEvent(ASSIGNED_POD_DELETE.resource, ASSIGNED_POD_DELETE.action, old=pod)
    core.queue.move_all(gone, only=_not_above(pod.priority))


def _not_above(priority: int) -> Callable[[Pod], bool]:
    return lambda pod: pod.priority <= priority


def _is_ours(core: Core, pod: Pod) -> bool:
    return pod.scheduler_name in core.profiles
