"""The three scoring strategies of NodeResourcesFit: spread out, pack, or follow a given shape.

All arithmetic is on non-negative int64, where floor division is Go's truncation. Follows upstream
`noderesources/{least,most}_allocated.go` and `requested_to_capacity_ratio.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kubesched.config.args import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    REQUESTED_TO_CAPACITY_RATIO,
    ScoringStrategy,
    UtilizationShapePoint,
)
from kubesched.framework import MAX_SCORE
from kubesched.plugins.noderesources.utilization import Utilization

if TYPE_CHECKING:
    from kubesched.framework import Points

Strategy: TypeAlias = Callable[[Utilization], "Points"]
"""Scores K worlds from the utilization of each resource."""

_FULL = 100
_SHAPE_SCALE = 10


def strategy_of(config: ScoringStrategy) -> Strategy:
    """The configured strategy; ValueError for an unknown type or a shape that is missing."""
    if config.type == LEAST_ALLOCATED:
        return least_allocated
    if config.type == MOST_ALLOCATED:
        return most_allocated
    if config.type == REQUESTED_TO_CAPACITY_RATIO:
        ratio = config.requested_to_capacity_ratio
        if ratio is None or not ratio.shape:
            raise ValueError("scoring strategy RequestedToCapacityRatio needs a shape")
        return requested_to_capacity_ratio(ratio.shape)
    raise ValueError(f"scoring strategy {config.type} is not supported")


def least_allocated(used: Utilization) -> Points:
    """The more is free, the higher the score; a resource that would be over-requested scores 0."""
    free = np.maximum(used.capacity - used.requested, 0)
    return _weighted_mean(used, free)


def most_allocated(used: Utilization) -> Points:
    """The more is used, the higher the score; use above the capacity counts as full."""
    return _weighted_mean(used, np.minimum(used.requested, used.capacity))


def _weighted_mean(used: Utilization, part: NDArray[np.int64]) -> Points:
    """The parts in percent of the capacities, truncated; 0 of nothing, which has no weight either."""
    weights = used.weights if used.is_everywhere else np.where(used.capacity > 0, used.weights, 0)
    score = part * MAX_SCORE // np.maximum(used.capacity, 1)
    mean: Points = (score * weights).sum(axis=0) // np.maximum(weights.sum(axis=0), 1)
    return mean


def requested_to_capacity_ratio(shape: Sequence[UtilizationShapePoint]) -> Strategy:
    """Score by a broken line from utilization to points; a resource that scores 0 loses its weight too."""
    table = shape_table(shape)

    def strategy(used: Utilization) -> Points:
        over = used.requested > used.capacity
        percent = np.where(over, _FULL, used.requested * _FULL // np.maximum(used.capacity, 1))
        score = table[percent]
        weights = np.where((used.capacity > 0) & (score > 0), used.weights, 0)
        return _rounded_ratio((score * weights).sum(axis=0), np.maximum(weights.sum(axis=0), 1))

    return strategy


def shape_table(shape: Sequence[UtilizationShapePoint]) -> NDArray[np.int64]:
    """The broken line's value at each whole percentage 0..100, with Go's truncation towards zero."""
    points = [(point.utilization, point.score * _SHAPE_SCALE) for point in shape]
    return np.array([_broken_line(points, percent) for percent in range(_FULL + 1)], np.int64)


def _broken_line(points: Sequence[tuple[int, int]], at: int) -> int:
    before: tuple[int, int] | None = None
    for x, y in points:
        if at <= x:
            if before is None:
                return y
            rise = (y - before[1]) * (at - before[0])
            run = x - before[0]
            return before[1] + (rise // run if rise >= 0 else -(-rise // run))
        before = (x, y)
    return points[-1][1]


def _rounded_ratio(numerator: NDArray[np.int64], denominator: NDArray[np.int64]) -> Points:
    """Divide and round half away from zero, as Go's math.Round; both are not negative."""
    ratio = numerator.astype(np.float64) / denominator.astype(np.float64)
    whole = np.floor(ratio)
    return (whole + (ratio - whole >= 0.5)).astype(np.int64)
