"""The hard half: no domain may have more than maxSkew matching pods above the emptiest one.

Follows upstream `podtopologyspread/filtering.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import Pod
from kubesched.framework import Codes, View, unresolvable, unschedulable
from kubesched.plugins.podtopologyspread.constraints import (
    Constraint,
    Inclusion,
    counted_rows,
    has_all_keys,
    matching_pods,
)

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

TOO_SKEWED = unschedulable("node(s) didn't match pod topology spread constraints")
NO_LABEL = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
CODES = {1: NO_LABEL, 2: TOO_SKEWED}
_FAR = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Domains:
    """One constraint's domains.

    `domain` I32[N] is each node's domain, -1 for none; `matching` I64[D] the pods per domain; `counted`
    Bool[N] says on which nodes pods count. `lowest` is the fewest pods of any domain, `next_lowest` the
    fewest of any but `lowest_at`. `enough` says that there are at least minDomains domains.
    """

    constraint: Constraint
    domain: NDArray[np.int32]
    matching: NDArray[np.int64]
    counted: NDArray[np.bool_]
    lowest: int
    next_lowest: int
    lowest_at: int
    enough: bool

    def skew(self, view: View, pod: Pod) -> NDArray[np.int64]:
        """How far each world's domain would be above the emptiest domain with the pod in it."""
        domain = self.domain.take(view.rows)
        if view.overlay is None:
            floor = self.lowest if self.enough else 0
            return (self.matching + (self._self_match(pod) - floor)).take(domain, mode="wrap")
        moved = np.where(self.counted[view.rows], view.moved(self._matches_in(pod)), 0)
        matching = self.matching[domain] + moved
        if self.enough:
            others = np.where(domain == self.lowest_at, self.next_lowest, self.lowest)
            lowest = np.where(moved != 0, np.minimum(others, matching), self.lowest)
        else:
            lowest = np.zeros(len(view), np.int64)
        return matching + self._self_match(pod) - lowest

    def _self_match(self, pod: Pod) -> bool:
        return self.constraint.selector.matches(pod.labels)

    def _matches_in(self, pod: Pod) -> Callable[[Pod], int]:
        selector, namespace = self.constraint.selector, pod.namespace
        return lambda other: int(other.namespace == namespace and selector.matches(other.labels))


def domains_of(
    cluster: ClusterReader, pod: Pod, constraints: Sequence[Constraint], inclusion: Inclusion
) -> tuple[Domains, ...]:
    """The domains of every constraint over all nodes; a node without all the keys is in none."""
    complete = has_all_keys(cluster, constraints)
    return tuple(_domains(cluster, pod, item, complete & inclusion.counts(item)) for item in constraints)


def _domains(cluster: ClusterReader, pod: Pod, constraint: Constraint, counted: NDArray[np.bool_]) -> Domains:
    nodes = cluster.nodes
    domain = nodes.label(constraint.topology_key)
    rows = counted_rows(cluster, counted)
    size = len(nodes.label_values(constraint.topology_key)) + 1
    pods = matching_pods(cluster, pod, constraint.selector).take(rows)
    inside = domain.take(rows)
    matching = np.bincount(inside, pods, size).astype(np.int64)
    present = np.flatnonzero(np.bincount(inside, minlength=size))
    lowest_at, lowest, next_lowest = -1, _FAR, _FAR
    if present.size:
        ranked = matching[present]
        first = int(ranked.argmin())
        lowest_at, lowest = int(present[first]), int(ranked[first])
        next_lowest = int(np.delete(ranked, first).min(initial=_FAR))
    enough = present.size >= constraint.min_domains
    return Domains(constraint, domain, matching, counted, lowest, next_lowest, lowest_at, enough)


def spread_codes(domains: Sequence[Domains], view: View, pod: Pod) -> Codes:
    """The first constraint that a world breaks decides its code."""
    codes: Codes = np.zeros(len(view), np.int64)
    for item in domains:
        missing = item.domain.take(view.rows) < 0
        skewed = item.skew(view, pod) > item.constraint.max_skew
        codes = np.where(codes == 0, np.where(missing, 1, np.where(skewed, 2, 0)), codes)
    return codes
