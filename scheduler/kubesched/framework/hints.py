"""Which plugin wants to hear of which cluster event, for the queue.

Follows upstream `buildQueueingHintMap` (scheduler.go) and `UnrollWildCardResource` (framework/types.go).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubesched.framework.interface import ClusterEventWithHint, EnqueueExtensions, Hint, HintFn
from kubesched.framework.registration import Registered, RegistrationError
from kubesched.state.events import ActionType, ClusterEvent, Resource

if TYPE_CHECKING:
    from kubesched.api.objects import Pod

_ANY = (
    Resource.Pod,
    Resource.Node,
    Resource.PersistentVolume,
    Resource.PersistentVolumeClaim,
    Resource.CSINode,
    Resource.CSIDriver,
    Resource.CSIStorageCapacity,
    Resource.StorageClass,
    Resource.ResourceClaim,
    Resource.DeviceClass,
)
EVERYTHING = tuple(ClusterEventWithHint(ClusterEvent(resource, ActionType.All)) for resource in _ANY)
"""What a plugin waits for that does not say: everything that plugins can wait for."""


def always_queue(_pod: Pod, _event: ClusterEvent) -> Hint:
    """The hint of an event registered without one."""
    return Hint.Queue


def events_of(item: Registered) -> tuple[ClusterEventWithHint, ...]:
    """The events that wake pods which this plugin rejected.

    A plugin that registers Node/Add also gets Node/UpdateNodeTaint: the queue drops a node-added event whose
    node the pod does not tolerate, so the plugin would never hear of that node (kubernetes #109437).
    Raises RegistrationError, naming the plugin, for something that is not a ClusterEventWithHint.
    """
    extension: EnqueueExtensions | None = item.points.get("events_to_register")
    if extension is None:
        return EVERYTHING
    events = tuple(extension.events_to_register())
    for event in events:
        if not isinstance(event, ClusterEventWithHint) or not isinstance(event.event, ClusterEvent):
            raise RegistrationError(
                f'plugin "{item.name}": events_to_register gave {event!r}; a ClusterEventWithHint is expected'
            )
    node_actions = ActionType(0)
    for event in events:
        if event.event.resource is Resource.Node:
            node_actions |= event.event.action
    if node_actions & ActionType.Add and not node_actions & ActionType.UpdateNodeTaint:
        events += (ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.UpdateNodeTaint)),)
    return events


def hint_map(items: Iterable[Registered]) -> dict[ClusterEvent, list[tuple[str, HintFn]]]:
    """Per registered event, the plugins that wait for it and their hint functions, in profile order."""
    found: dict[ClusterEvent, list[tuple[str, HintFn]]] = {}
    for item in items:
        for registered in events_of(item):
            found.setdefault(registered.event, []).append((item.name, registered.hint or always_queue))
    return found
