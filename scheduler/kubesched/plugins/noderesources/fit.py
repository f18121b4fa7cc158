"""NodeResourcesFit: the node has room for what the pod requests; the score depends on the strategy.

Follows upstream `noderesources/fit.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import Pod
from kubesched.config.args import NodeResourcesFitArgs
from kubesched.config.names import is_extended_resource
from kubesched.framework import (
    ClusterEventWithHint,
    Code,
    Codes,
    Cycle,
    Handle,
    Points,
    Slot,
    Status,
    View,
)
from kubesched.plugins.dynamicresources.device_classes import backs
from kubesched.plugins.noderesources.fit_hints import FitHints
from kubesched.plugins.noderesources.strategies import Strategy, strategy_of
from kubesched.plugins.noderesources.utilization import intern, utilization

TOO_MANY_PODS = "Too many pods"
_PODS_BIT = 1
_UNRESOLVABLE_BIT = 1 << 62
_MOST_RESOURCES = 61


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The amounts to be checked, in the order of their reasons; bit i+1 of a code stands for resource i.

    Of a resource that is `delegated`, a node that has none itself may get some by a claim on devices.
    """

    names: tuple[str, ...]
    columns: NDArray[np.intp]
    amounts: tuple[int, ...]
    delegated: tuple[bool, ...]


_WANTED: Slot[_Wanted] = Slot("NodeResourcesFit requests")


class Fit:
    """Checks pods, cpu, memory, ephemeral storage and extended resources; scores by one strategy."""

    name: ClassVar[str] = "NodeResourcesFit"

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._strategy: Strategy = strategy_of(args.scoring_strategy)
        self._resources = args.scoring_strategy.resources
        self._devices = handle.gates.enabled("DRAExtendedResource")
        self._hints = FitHints(handle.cluster, devices=self._devices)
        self._cluster = handle.cluster
        intern(handle.cluster, self._resources)

    def sign(self, pod: Pod) -> Hashable:
        """What the pod asks for decides, and which of it device classes may provide."""
        return pod.asked, tuple([name for name in pod.requests if self._is_delegated(name)])

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """List what the pod requests and this plugin has to check."""
        requests = {
            name: amount
            for name, amount in cycle.pod.asked.incoming.items()
            if amount > 0 and not self._is_ignored(name)
        }
        if len(requests) > _MOST_RESOURCES:
            return Status(Code.Error, (f"a pod may request at most {_MOST_RESOURCES} kinds of resources",))
        indexes = [cycle.cluster.nodes.resource_index(name) for name in requests]
        delegated = tuple(self._is_delegated(name) for name in requests)
        cycle.put(
            _WANTED, _Wanted(tuple(requests), np.array(indexes, np.intp), tuple(requests.values()), delegated)
        )
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes | None:
        """One bit per resource of which too little is free, and one if the node could never hold the pod."""
        return _missing(view, cycle.get(_WANTED))

    def status(self, cycle: Cycle, code: int) -> Status:
        """Every reason counts; one resource beyond the node's size makes the whole answer unresolvable."""
        reasons = [TOO_MANY_PODS] if code & _PODS_BIT else []
        names = cycle.get(_WANTED).names
        reasons += [f"Insufficient {name}" for i, name in enumerate(names) if code & (_PODS_BIT << (i + 1))]
        unresolvable = code & _UNRESOLVABLE_BIT
        return Status(
            Code.UnschedulableAndUnresolvable if unresolvable else Code.Unschedulable, tuple(reasons)
        )

    def score(self, cycle: Cycle, view: View) -> Points:
        """Score by the configured strategy; no normalisation."""
        return self._strategy(utilization(view, self._resources, cycle.pod.asked.scoring, nonzero=True))

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that leaves or shrinks, a node that comes or grows, a device class for a resource."""
        return self._hints.events()

    def _is_delegated(self, name: str) -> bool:
        return "/" in name and self._devices and backs(self._cluster, name)

    def _is_ignored(self, name: str) -> bool:
        if "/" not in name or not is_extended_resource(name):
            return False
        return name in self._ignored or name.split("/", 1)[0] in self._ignored_groups


def _missing(view: View, wanted: _Wanted) -> Codes | None:
    """What each world lacks."""
    nodes = view.cluster.nodes
    full = view.pod_count >= nodes.allowed_pods.take(view.rows)
    capacities = nodes.allocatable.take(view.rows, axis=0).take(wanted.columns, axis=1)
    short = capacities - view.requested.take(wanted.columns, axis=1) < wanted.amounts
    if any(wanted.delegated):
        short &= (capacities > 0) | ~np.array(wanted.delegated)
    if not short.any():
        return full.astype(np.int64) if full.any() else None
    codes: Codes = full.astype(np.int64)
    for index, amount in enumerate(wanted.amounts):
        bit = _PODS_BIT << (index + 1)
        beyond = np.where(amount > capacities[:, index], bit | _UNRESOLVABLE_BIT, bit)
        codes |= np.where(short[:, index], beyond, 0)
    return codes


def build(args: object, handle: Handle) -> Fit:
    """Build the plugin from its arguments; ValueError when a gate is off whose feature is always on here."""
    for gate in ("PodLevelResources", "InPlacePodLevelResourcesVerticalScaling"):
        if not handle.gates.enabled(gate):
            raise ValueError(f"feature gate {gate}=false is not built: leave it on")
    return Fit(args if isinstance(args, NodeResourcesFitArgs) else NodeResourcesFitArgs(), handle)
