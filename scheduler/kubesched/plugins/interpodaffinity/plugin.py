"""InterPodAffinity at its extension points.

Follows upstream `interpodaffinity/plugin.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kubesched.config.args import InterPodAffinityArgs
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Codes,
    Cycle,
    Handle,
    Points,
    Slot,
    Status,
    View,
    unresolvable,
)
from kubesched.plugins.interpodaffinity import hints
from kubesched.plugins.interpodaffinity.filtering import CODES, Neighbours, neighbours_of
from kubesched.plugins.interpodaffinity.scoring import EXISTING_TERMS, attraction, normalized, raw_score
from kubesched.plugins.interpodaffinity.terms import DomainSums, concerns, preferred
from kubesched.state.terms import TermKind

_NEIGHBOURS: Slot[Neighbours] = Slot("InterPodAffinity neighbours")
_ATTRACTION: Slot[DomainSums] = Slot("InterPodAffinity attraction")


class InterPodAffinity:
    """Filters by required terms of the pod and of those there, scores by preferred ones."""

    name: ClassVar[str] = "InterPodAffinity"

    def __init__(self, args: InterPodAffinityArgs) -> None:
        self._hard_weight = args.hard_pod_affinity_weight
        self._ignore_existing = args.ignore_preferred_terms_of_existing_pods

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Count the pods that matter per domain; skip a pod that neither side's terms concern."""
        if not concerns(cycle.cluster, cycle.pod, TermKind.REQUIRED_ANTI_AFFINITY):
            return SKIP
        try:
            neighbours = neighbours_of(cycle.cluster, cycle.pod)
        except ValueError as error:
            return unresolvable(f"parsing pod: {error}")
        if neighbours.is_empty:
            return SKIP
        cycle.put(_NEIGHBOURS, neighbours)
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """Apply the pod's affinity, its anti-affinity, then the anti-affinity of pods that are there."""
        return cycle.get(_NEIGHBOURS).codes(view)

    def status(self, _cycle: Cycle, code: int) -> Status:
        """Missing neighbours do not come by eviction, the other two reasons may go by it."""
        return CODES[code]

    def pre_score(self, cycle: Cycle, _view: View) -> Status | None:
        """Weigh all domains; skip when no term concerns the pod.

        With ignorePreferredTermsOfExistingPods, only a pod with preferred terms of its own is scored at all.
        """
        if self._ignore_existing and not preferred(cycle.pod):
            return SKIP
        if not concerns(cycle.cluster, cycle.pod, *EXISTING_TERMS):
            return SKIP
        sums = attraction(cycle.cluster, cycle.pod, self._hard_weight)
        if not sums.touched:
            return SKIP
        cycle.put(_ATTRACTION, sums)
        return None

    def score(self, cycle: Cycle, view: View) -> Points:
        """The sum of the weights of the node's domains."""
        return raw_score(cycle.get(_ATTRACTION), view)

    def normalize(self, _cycle: Cycle, _view: View, raw: Points) -> Points:
        """The lowest sum gets 0, the highest 100."""
        return normalized(raw)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that come, go or change labels, and nodes that come or change domains."""
        return hints.events()


def build(args: object, _handle: Handle) -> InterPodAffinity:
    """Build the plugin from its arguments."""
    return InterPodAffinity(args if isinstance(args, InterPodAffinityArgs) else InterPodAffinityArgs())
