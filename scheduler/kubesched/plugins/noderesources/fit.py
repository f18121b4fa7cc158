"""NodeResourcesFit: the node has room for what the pod requests; the score depends on the strategy.

Follows upstream `noderesources/fit.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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
from kubesched.plugins.noderesources.fit_hints import FitHints
from kubesched.plugins.noderesources.per_node import PerNode
from kubesched.plugins.noderesources.strategies import Strategy, strategy_of
from kubesched.plugins.noderesources.utilization import intern, scoring_requests, utilization

TOO_MANY_PODS = "Too many pods"
_PODS_BIT = 1
_UNRESOLVABLE_BIT = 1 << 62
_MOST_RESOURCES = 61


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The amounts to be checked, in the order of their reasons; bit i+1 of a code stands for resource i."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    amounts: tuple[int, ...]


_WANTED: Slot[_Wanted] = Slot("NodeResourcesFit requests")


class Fit:
    """Checks pods, cpu, memory, ephemeral storage and extended resources; scores by one strategy."""

    name: ClassVar[str] = "NodeResourcesFit"

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._strategy: Strategy = strategy_of(args.scoring_strategy)
        self._resources = args.scoring_strategy.resources
        self._hints = FitHints(handle.cluster)
        self._codes, self._points = PerNode(), PerNode()
        intern(handle.cluster, self._resources)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """List what the pod requests and this plugin has to check."""
        requests = {
            name: amount
            for name, amount in cycle.pod.incoming_requests.items()
            if amount > 0 and not self._is_ignored(name)
        }
        if len(requests) > _MOST_RESOURCES:
            return Status(Code.Error, (f"a pod may request at most {_MOST_RESOURCES} kinds of resources",))
        columns = tuple(cycle.cluster.nodes.resource_index(name) for name in requests)
        cycle.put(_WANTED, _Wanted(tuple(requests), columns, tuple(requests.values())))
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """One bit per resource of which too little is free, and one if the node could never hold the pod."""
        wanted = cycle.get(_WANTED)
        return self._codes.of(view, wanted, lambda worlds: _missing(worlds, wanted))

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
        requests = scoring_requests(cycle.pod)

        def points(worlds: View) -> Points:
            used = utilization(worlds, self._resources, requests, nonzero=True)
            return self._strategy(used, len(worlds))

        return self._points.of(view, tuple(requests.items()), points)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that leaves or shrinks, a node that comes or grows, a device class for a resource."""
        return self._hints.events()

    def _is_ignored(self, name: str) -> bool:
        if "/" not in name or not is_extended_resource(name):
            return False
        return name in self._ignored or name.split("/", 1)[0] in self._ignored_groups


def _missing(view: View, wanted: _Wanted) -> Codes:
    """What each world lacks."""
    nodes = view.cluster.nodes
    codes: Codes = (view.pod_count >= nodes.allowed_pods.take(view.rows)).astype(np.int64)
    if not wanted.names:
        return codes
    capacities, used = nodes.allocatable.take(view.rows, axis=0), view.requested
    for index, (column, amount) in enumerate(zip(wanted.columns, wanted.amounts, strict=True)):
        bit = _PODS_BIT << (index + 1)
        capacity = capacities[:, column]
        short = capacity - used[:, column] < amount
        if short.any():
            codes |= np.where(short, np.where(amount > capacity, bit | _UNRESOLVABLE_BIT, bit), 0)
    return codes


def build(args: object, handle: Handle) -> Fit:
    """Build the plugin from its arguments."""
    return Fit(args if isinstance(args, NodeResourcesFitArgs) else NodeResourcesFitArgs(), handle)
