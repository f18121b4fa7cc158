"""The eviction manager of one node: a pure function of measurements and time, with a memory.

It is told the time and what is measured, and says what to report and whom to evict; it does nothing itself.
Follows pkg/kubelet/eviction/eviction_manager.go (synchronize, Admit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from schedlab.api.objects import Object
from schedlab.judge.values import tolerated
from schedlab.kubelet.configuration import Configuration
from schedlab.kubelet.limits import exceeded
from schedlab.kubelet.messages import low_on, under
from schedlab.kubelet.pods import critical
from schedlab.kubelet.ranking import ranked
from schedlab.kubelet.signals import CONDITIONS, MEMORY_PRESSURE, RESOURCES, Observations
from schedlab.kubelet.stats import Disks, Summary
from schedlab.kubelet.thresholds import Threshold, by_urgency, met

_AT_ONCE = 1
"""Seconds of grace for pods that go at once: not 0, which would mean no orderly end at all."""

_TAINT = {"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}


class Machine(Protocol):
    """The node's own means: what is measured, and what can be freed before a pod has to go."""

    def summary(self) -> Summary:
        """What is measured now."""
        ...

    def delete_unused_images(self) -> None:
        """Free the images that no container uses."""
        ...

    def delete_dead_containers(self) -> None:
        """Free the layers of containers that have ended."""
        ...


@dataclass(frozen=True, slots=True)
class Eviction:
    """A pod that has to go within `grace` seconds.

    `disruption` says whether it gets a DisruptionTarget condition.
    """

    pod: Object
    message: str
    annotations: Mapping[str, str]
    grace: int
    disruption: bool


@dataclass(frozen=True, slots=True)
class Round:
    """What one look at the node led to: the pressure it is under, and what to do about it.

    `reclaiming` is the resource that is being reclaimed, which an Event about the node says.
    """

    conditions: Sequence[str] = ()
    reclaiming: str = ""
    evictions: Sequence[Eviction] = ()


class EvictionManager:
    """Decides for one node; `synchronize` is called once a period, and right after an eviction."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._first_met: dict[Threshold, float] = {}
        self._last_pressed: dict[str, float] = {}
        self._unresolved: list[Threshold] = []
        self.conditions: tuple[str, ...] = ()
        """The pressure that the node is under, or was within the transition period."""

    def admit(self, pod: Object) -> str:
        """Why the node does not take a pod under its present pressure; nothing if it does.

        Critical pods are always taken. Memory pressure alone turns away only what requests nothing and does
        not tolerate the taint.
        """
        if not self.conditions or critical(pod):
            return ""
        if self.conditions == (MEMORY_PRESSURE,):
            requests_nothing = (pod.get("status") or {}).get("qosClass") == "BestEffort"
            if not requests_nothing or tolerated(pod, _TAINT):
                return ""
        return under(self.conditions)

    def synchronize(self, machine: Machine, pods: Sequence[Object], now: float) -> Round:
        """Look once: note what is crossed since when, then evict one pod at most for it.

        Pods that broke limits of their own all go, and nobody else does in that round.
        """
        summary = machine.summary()
        observations = summary.observations()
        due = self._due(observations, now)
        if self._configuration.local_storage_isolation:
            broke = self._broke_limits(pods, summary)
            if broke:
                return Round(self.conditions, evictions=broke)
        if not due:
            return Round(self.conditions)
        urgent = by_urgency(due)
        resource = RESOURCES[urgent[0].signal]
        if self._reclaimed(machine, urgent[0].signal):
            return Round(self.conditions, resource)
        victim = self._victim(pods, summary, urgent, observations)
        return Round(self.conditions, resource, [victim] if victim else ())

    def _due(self, observations: Observations, now: float) -> list[Threshold]:
        """The thresholds that demand an eviction now; updates the conditions on the way."""
        crossed = met(self._configuration.thresholds, observations, with_reclaim=False)
        lasting = met(self._unresolved, observations, with_reclaim=True)
        crossed += [threshold for threshold in lasting if threshold not in crossed]
        self._first_met = {one: self._first_met.get(one, now) for one in crossed}
        self._last_pressed |= {CONDITIONS[one.signal]: now for one in crossed}
        period = self._configuration.transition_period
        self.conditions = tuple(one for one, at in self._last_pressed.items() if now - at < period)
        self._unresolved = [one for one, since in self._first_met.items() if now - since >= one.grace]
        return list(self._unresolved)

    def _broke_limits(self, pods: Sequence[Object], summary: Summary) -> list[Eviction]:
        found = []
        for pod in pods:
            usage = summary.pods.get(pod["metadata"]["uid"])
            message = exceeded(pod, usage, summary.disks) if usage is not None else ""
            if message and not critical(pod):
                found.append(Eviction(pod, message, {}, _AT_ONCE, disruption=False))
        return found

    def _reclaimed(self, machine: Machine, signal: str) -> bool:
        """Free what the node itself can; True if that is enough for every threshold, minimum included."""
        images, containers = _reclaimable(signal, self._configuration.disks)
        if containers:
            machine.delete_dead_containers()
        if images:
            machine.delete_unused_images()
        if not images and not containers:
            return False
        observations = machine.summary().observations()
        return not met(self._configuration.thresholds, observations, with_reclaim=True)

    def _victim(
        self,
        pods: Sequence[Object],
        summary: Summary,
        due: Sequence[Threshold],
        observations: Observations,
    ) -> Eviction | None:
        """The first pod of the ranking that is not critical."""
        urgent = due[0]
        order = ranked(pods, summary.pods, urgent.signal, self._configuration.disks)
        for pod in order:
            if not critical(pod):
                usage = summary.pods.get(pod["metadata"]["uid"])
                words = low_on(RESOURCES[urgent.signal], pod, usage, due, observations)
                grace = _AT_ONCE if urgent.hard else self._soft_grace(pod)
                return Eviction(pod, words.message, words.annotations, grace, disruption=True)
        return None

    def _soft_grace(self, pod: Object) -> int:
        """At most what the configuration allows; never less than a second, whatever it says."""
        own = pod["spec"].get("terminationGracePeriodSeconds")
        longest = self._configuration.max_pod_grace
        return max(_AT_ONCE, min(longest, own) if own is not None else longest)


def _reclaimable(signal: str, disks: Disks) -> tuple[bool, bool]:
    """Whether unused images and dead containers lie on the file system that a signal is about."""
    name, _, _ = signal.partition(".")
    if name not in ("nodefs", "imagefs", "containerfs"):
        return False, False
    if disks is Disks.ONE:
        return True, True
    if disks is Disks.IMAGEFS:
        return (False, False) if name == "nodefs" else (True, True)
    return (True, False) if name == "imagefs" else (False, True)
