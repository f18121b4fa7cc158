"""Which event is worth waking which pod.

Each plugin registers the events that might make a pod it rejected schedulable, with a hint function that
looks closer. Only plugins that rejected the pod are asked. Follows upstream `isPodWorthRequeuing` in
`backend/queue/scheduling_queue.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from kubesched import logs
from kubesched.api.objects import Pod
from kubesched.framework.interface import Hint, HintFn
from kubesched.queue.entry import Entry
from kubesched.state.events import ActionType, ClusterEvent, Resource, match

_log = logs.get(__name__)

Registrations: TypeAlias = Mapping[ClusterEvent, Sequence[tuple[str, HintFn]]]
"""One profile's (plugin, hint function) pairs by registered event, as `framework.hints` collects them."""


Observe: TypeAlias = Callable[[str, str, str, float], None]
"""Hears of each hint: the plugin, the event, the answer as the metric names it, and the seconds it took."""

_LABEL = {Hint.Queue: "Queue", Hint.Skip: "QueueSkip"}


class Strategy(IntEnum):
    """What to do with a pod after an event; the higher answer wins."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


@dataclass(frozen=True, slots=True)
class _Interest:
    """Who wants to hear of one kind of event."""

    plugins: frozenset[str]
    hints: tuple[tuple[str, HintFn], ...]


class HintMap:
    """One profile's registrations, answering in constant time for each kind of event seen before."""

    __slots__ = ("_interest", "_now", "_observe", "_registered")

    def __init__(
        self,
        registered: Registrations,
        now: Callable[[], float] = lambda: 0.0,
        observe: Observe | None = None,
    ) -> None:
        """`observe` hears how long each hint took by the clock `now`."""
        self._now = now
        self._observe = observe
        self._registered = registered
        self._interest: dict[tuple[Resource, ActionType], _Interest] = {}

    def interested(self, event: ClusterEvent) -> frozenset[str]:
        """The plugins that registered an event of this kind."""
        return self._interested(event).plugins

    def strategy(self, entry: Entry, event: ClusterEvent) -> Strategy:
        """Whether the event might make the pod schedulable, by the plugins that rejected it.

        A plugin on which the pod is pending wakes it at once, without backoff: it rejected nothing, it only
        waited. A hint function that raises counts as a yes, so that no pod is stuck for its sake.
        """
        rejectors = entry.rejectors
        if not rejectors:
            return Strategy.AFTER_BACKOFF
        if event.is_wild_card:
            meant = event.new is None or event.new.uid == entry.uid
            return Strategy.AFTER_BACKOFF if meant else Strategy.SKIP
        strongest = Strategy.SKIP
        for plugin, hint in self._interested(event).hints:
            if plugin not in rejectors or self._ask(plugin, hint, entry.pod, event) is Hint.Skip:
                continue
            if plugin in entry.pending_plugins:
                return Strategy.IMMEDIATELY
            if not entry.pending_plugins:
                return Strategy.AFTER_BACKOFF
            strongest = Strategy.AFTER_BACKOFF
        return strongest

    def _ask(self, plugin: str, hint: HintFn, pod: Pod, event: ClusterEvent) -> Hint:
        if self._observe is None:
            return _ask(plugin, hint, pod, event)
        started = self._now()
        answer = _ask(plugin, hint, pod, event)
        self._observe(plugin, event.title, _LABEL[answer], self._now() - started)
        return answer

    def _interested(self, event: ClusterEvent) -> _Interest:
        known = self._interest.get(event.key)
        if known is None:
            hints = tuple(
                hint
                for registered, functions in self._registered.items()
                if match(registered, event)
                for hint in functions
            )
            known = self._interest[event.key] = _Interest(frozenset(plugin for plugin, _ in hints), hints)
        return known


def _ask(plugin: str, hint: HintFn, pod: Pod, event: ClusterEvent) -> Hint:
    try:
        return hint(pod, event)
    except Exception as failure:  # noqa: BLE001 - no plugin's failure may leave the pod stuck
        _log.error("QueueingHintFn returns error", failure, pod=pod.key, plugin=plugin, event=event.title)
        return Hint.Queue
