"""NodeResourcesBalancedAllocation: does the pod bring a node's resources closer to even use.

Follows upstream `noderesources/balanced_allocation.go` (1.36), float operation by float operation.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import Pod
from kubesched.config.args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from kubesched.framework import MAX_SCORE, SKIP, Cycle, Handle, Points, Status, View
from kubesched.plugins.noderesources.utilization import intern, utilization

_HALF = MAX_SCORE // 2


class BalancedAllocation:
    """Compares the spread of utilization over the resources with the pod and without it."""

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"

    def __init__(self, resources: Sequence[ResourceSpec]) -> None:
        self._resources = resources

    def sign(self, pod: Pod) -> Hashable:
        """What the pod asks for decides."""
        return pod.asked

    def pre_score(self, cycle: Cycle, _view: View) -> Status | None:
        """Skip pods that request none of the resources: all would go to one node (kubernetes #129138)."""
        requests = cycle.pod.requests
        return None if any(requests.get(spec.name, 0) for spec in self._resources) else SKIP

    def score(self, cycle: Cycle, view: View) -> Points:
        """75 when the balance stays as it is, towards 100 when it improves, towards 50 when it suffers."""
        return _points(view, self._resources, cycle.pod.requests)


def _points(view: View, resources: Sequence[ResourceSpec], requests: Mapping[str, int]) -> Points:
    used = utilization(view, resources, requests, nonzero=False)
    balance = _balance_of_two if len(used.capacity) == 2 and used.is_everywhere else _balance
    capacity = used.capacity.astype(np.float64)
    return _HALF + (_HALF + balance(capacity, used.requested) - balance(capacity, used.allocated)) // 2


def _balance_of_two(capacity: NDArray[np.float64], used: NDArray[np.int64]) -> NDArray[np.int64]:
    """As `_balance`, of two resources that every world has."""
    first, second = np.minimum(used / capacity, 1.0)
    points: Points = ((1 - np.abs((first - second) / 2)) * float(MAX_SCORE)).astype(np.int64)
    return points


def _balance(capacity: NDArray[np.float64], used: NDArray[np.int64]) -> NDArray[np.int64]:
    """100 times one minus the standard deviation of the fractions in use, truncated."""
    exists = capacity != 0
    fractions = np.where(exists, np.minimum(used / np.where(exists, capacity, 1.0), 1.0), 0.0)
    count = exists.sum(axis=0)
    if len(fractions) == 2:
        deviation = np.where(count == 2, np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    else:
        deviation = _deviation(list(fractions), list(exists), count)
    return ((1 - deviation) * float(MAX_SCORE)).astype(np.int64)


def _deviation(
    fractions: Sequence[NDArray[np.float64]], exists: Sequence[NDArray[np.bool_]], count: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The deviation of the fractions that exist; two of them have a shortcut, fewer deviate by nothing."""
    total = np.zeros(len(count))
    for fraction in fractions:
        total = total + fraction
    mean = total / np.maximum(count, 1)
    squares = np.zeros(len(count))
    for fraction, present in zip(fractions, exists, strict=True):
        squares = squares + np.where(present, (fraction - mean) * (fraction - mean), 0.0)
    first, second = _first_two(fractions, exists, len(count))
    pair = np.abs((first - second) / 2)
    many = np.sqrt(squares / np.maximum(count, 1))
    return np.where(count > 2, many, np.where(count == 2, pair, 0.0))


def _first_two(
    fractions: Sequence[NDArray[np.float64]], exists: Sequence[NDArray[np.bool_]], worlds: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per world, the first two fractions that exist."""
    first, second = np.zeros(worlds), np.zeros(worlds)
    seen = np.zeros(worlds, np.int64)
    for fraction, present in zip(fractions, exists, strict=True):
        first = np.where(present & (seen == 0), fraction, first)
        second = np.where(present & (seen == 1), fraction, second)
        seen = seen + present
    return first, second


def build(args: object, handle: Handle) -> BalancedAllocation:
    """Build the plugin from its arguments."""
    config = (
        args
        if isinstance(args, NodeResourcesBalancedAllocationArgs)
        else NodeResourcesBalancedAllocationArgs()
    )
    intern(handle.cluster, config.resources)
    return BalancedAllocation(config.resources)
