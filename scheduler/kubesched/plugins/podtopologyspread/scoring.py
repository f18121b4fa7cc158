"""The soft half: the fewer matching pods in a node's domains, the better.

Follows upstream `podtopologyspread/scoring.go` (1.36), float operation by float operation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import Pod
from kubesched.framework import MAX_SCORE, Points, View
from kubesched.plugins.podtopologyspread.constraints import (
    HOSTNAME,
    Constraint,
    Inclusion,
    counted_rows,
    has_all_keys,
    matching_pods,
)

if TYPE_CHECKING:
    from kubesched.state import ClusterReader


@dataclass(frozen=True, slots=True)
class Crowding:
    """One constraint: `pods` I64[N] matching pods in each node's domain, and the weight of a pod."""

    constraint: Constraint
    present: NDArray[np.bool_]
    pods: NDArray[np.int64]
    weight: float


@dataclass(frozen=True, slots=True)
class SpreadScore:
    """What scoring needs: every constraint's crowding, and Bool[N] nodes left out for lack of a key."""

    crowding: tuple[Crowding, ...]
    ignored: NDArray[np.bool_]

    def raw(self, view: View) -> Points:
        """The weighted number of matching pods; a key that a node lacks adds nothing."""
        total = np.zeros(len(view), np.float64)
        for item in self.crowding:
            cost = item.pods.take(view.rows) * item.weight + (item.constraint.max_skew - 1)
            total = total + np.where(item.present.take(view.rows), cost, 0.0)
        whole = np.floor(total)
        rounded = (whole + (total - whole >= 0.5)).astype(np.int64)
        return np.where(self.ignored.take(view.rows), 0, rounded)

    def normalize(self, view: View, raw: Points) -> Points:
        """The least crowded node gets 100; nodes left out get 0."""
        ignored = self.ignored.take(view.rows)
        scored = raw[~ignored]
        if not scored.size:
            return np.zeros(len(view), np.int64)
        low, high = int(scored.min()), int(scored.max())
        if high == 0:
            return np.where(ignored, 0, MAX_SCORE)
        return np.where(ignored, 0, MAX_SCORE * (high + low - raw) // high)


def spread_score(
    cluster: ClusterReader,
    pod: Pod,
    constraints: Sequence[Constraint],
    inclusion: Inclusion,
    view: View,
    *,
    require_all_keys: bool,
) -> SpreadScore:
    """Count matching pods per domain over all nodes, and weigh by the number of domains among the feasible.

    With `require_all_keys` off (Kubernetes' own defaults), nodes without a key, or with an empty value of it,
    form a domain of their own.
    """
    capacity = cluster.nodes.capacity
    eligible = has_all_keys(cluster, constraints) if require_all_keys else np.ones(capacity, np.bool_)
    rows = view.rows[eligible[view.rows]]
    crowding = tuple(
        _crowding(cluster, pod, item, eligible & inclusion.counts(item), rows) for item in constraints
    )
    return SpreadScore(crowding, ~eligible)


def _crowding(
    cluster: ClusterReader,
    pod: Pod,
    constraint: Constraint,
    counted: NDArray[np.bool_],
    feasible: NDArray[np.int32],
) -> Crowding:
    nodes = cluster.nodes
    labels = nodes.label(constraint.topology_key)
    pods = matching_pods(cluster, pod, constraint.selector)
    if constraint.topology_key == HOSTNAME:
        return Crowding(constraint, labels >= 0, pods, _domain_weight(len(feasible)))
    domain = np.where(labels == nodes.value_id(constraint.topology_key, ""), 0, labels + 1)
    rows = counted_rows(cluster, counted)
    size = len(nodes.label_values(constraint.topology_key)) + 1
    per_domain = np.bincount(domain.take(rows), pods.take(rows), size).astype(np.int64)
    domains = int(np.count_nonzero(np.bincount(domain.take(feasible), minlength=size)))
    return Crowding(constraint, labels >= 0, per_domain[domain], _domain_weight(domains))


def _domain_weight(domains: int) -> float:
    """The more domains, the fewer pods each has, and the more one pod weighs."""
    return math.log(domains + 2)
