"""The soft half: weights of preferred terms, in both directions, summed over the node's domains.

Follows upstream `interpodaffinity/scoring.go` (1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubesched.api.objects import Pod
from kubesched.framework import MAX_SCORE, Points, View
from kubesched.plugins.interpodaffinity.terms import DomainSums, preferred
from kubesched.state.terms import TermKind

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

_EXISTING = ((TermKind.PREFERRED_AFFINITY, 1), (TermKind.PREFERRED_ANTI_AFFINITY, -1))
EXISTING_TERMS = (TermKind.REQUIRED_AFFINITY, *(kind for kind, _ in _EXISTING))
"""The terms of pods that are there which count in the score."""


def attraction(cluster: ClusterReader, pod: Pod, hard_weight: int) -> DomainSums:
    """The weight of every domain for the pod.

    The pod's own preferred terms count the pods that they select. Pods that are there count with their
    preferred terms about the pod, and with `hard_weight` for a required affinity term about it. Raises
    ValueError for an unreadable term.
    """
    sums = DomainSums(cluster)
    for term in preferred(pod):
        sums.add(term.topology_key, cluster.pods.count(term.pods), term.weight)
    if hard_weight > 0:
        for known in cluster.pods.terms_about(TermKind.REQUIRED_AFFINITY, pod):
            sums.add_class(known, hard_weight)
    for kind, sign in _EXISTING:
        for known in cluster.pods.terms_about(kind, pod):
            sums.add_class(known, sign * known.term.weight)
    return sums


def raw_score(sums: DomainSums, view: View) -> Points:
    """The sum of the weights of the node's domains; negative where aversion prevails."""
    total: Points = np.zeros(len(view), np.int64)
    for key in sums.keys:
        total += sums.at(key, view.rows)
    return total


def normalized(raw: Points) -> Points:
    """Scale from lowest to highest; the division comes first, as in the reference."""
    if not raw.size:
        return raw
    low, high = int(raw.min()), int(raw.max())
    if low == high:
        return np.zeros(len(raw), np.int64)
    fraction = (raw - low).astype(np.float64) / float(high - low)
    return (float(MAX_SCORE) * fraction).astype(np.int64)
