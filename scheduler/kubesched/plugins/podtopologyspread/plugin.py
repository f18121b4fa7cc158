"""PodTopologySpread at its extension points, with the constraints that a pod gets by default.

Follows upstream `podtopologyspread/plugin.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api.affinity import TopologySpreadConstraint
from kubesched.api.objects import Pod
from kubesched.api.taints import NO_EXECUTE, NO_SCHEDULE, Taint, find_untolerated
from kubesched.config.args import PodTopologySpreadArgs
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
)
from kubesched.plugins.per_class import Answers
from kubesched.plugins.podtopologyspread import hints
from kubesched.plugins.podtopologyspread.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    Constraint,
    Inclusion,
    constraints_of,
)
from kubesched.plugins.podtopologyspread.default_selector import default_selector
from kubesched.plugins.podtopologyspread.filtering import CODES, Domains, domains_of, spread_codes
from kubesched.plugins.podtopologyspread.scoring import SpreadScore, spread_score

SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
    TopologySpreadConstraint(
        max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable=SCHEDULE_ANYWAY
    ),
)
_DOMAINS: Slot[Sequence[Domains]] = Slot("PodTopologySpread domains")
_SCORE: Slot[SpreadScore] = Slot("PodTopologySpread score")


class PodTopologySpread:
    """Filters by DoNotSchedule constraints, scores by ScheduleAnyway ones."""

    name: ClassVar[str] = "PodTopologySpread"

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        self._system_defaulted = args.defaulting_type == "System"
        defaults = SYSTEM_DEFAULTS if self._system_defaulted else args.default_constraints
        self._defaults = {
            action: [item for item in defaults if item.when_unsatisfiable == action]
            for action in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
        }
        self._cluster = handle.cluster
        self._match_label_keys = handle.gates.enabled("MatchLabelKeysInPodTopologySpread")
        self._comparison = handle.gates.enabled("TaintTolerationComparisonOperators")
        self._untolerated = Answers(handle.cluster.nodes.taint_classes)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Count matching pods per domain; skip a pod without hard constraints."""
        constraints = self.hard_constraints(cycle.pod)
        if not constraints:
            return SKIP
        inclusion = self._inclusion(cycle, constraints)
        cycle.put(_DOMAINS, domains_of(cycle.cluster, cycle.pod, constraints, inclusion))
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """Reject nodes without a topology key, and domains that would be too far above the emptiest."""
        return spread_codes(cycle.get(_DOMAINS), view, cycle.pod)

    def status(self, _cycle: Cycle, code: int) -> Status:
        """Tell a missing label, which no eviction adds, from too much skew."""
        return CODES[code]

    def pre_score(self, cycle: Cycle, view: View) -> Status | None:
        """Count matching pods per domain; skip a pod without soft constraints."""
        constraints = self._constraints(cycle.pod, SCHEDULE_ANYWAY)
        if not constraints:
            return SKIP
        inclusion = self._inclusion(cycle, constraints)
        require_all = bool(cycle.pod.spec.topology_spread_constraints) or not self._system_defaulted
        found = spread_score(
            cycle.cluster, cycle.pod, constraints, inclusion, view, require_all_keys=require_all
        )
        cycle.put(_SCORE, found)
        return None

    def score(self, cycle: Cycle, view: View) -> Points:
        """The weighted number of matching pods in the node's domains."""
        return cycle.get(_SCORE).raw(view)

    def normalize(self, cycle: Cycle, view: View, raw: Points) -> Points:
        """The least crowded node gets 100."""
        return cycle.get(_SCORE).normalize(view, raw)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that come, go or change labels, and nodes that change domains."""
        return hints.events(self.hard_constraints)

    def hard_constraints(self, pod: Pod) -> tuple[Constraint, ...]:
        """The DoNotSchedule constraints that apply to the pod; ValueError for an invalid selector."""
        return self._constraints(pod, DO_NOT_SCHEDULE)

    def _constraints(self, pod: Pod, action: str) -> tuple[Constraint, ...]:
        own = pod.spec.topology_spread_constraints
        if own:
            return self._read(own, pod, action)
        defaults = self._defaults[action]
        selector = default_selector(self._cluster, pod) if defaults else None
        if selector is None or selector.is_empty:
            return ()
        return tuple(replace(item, selector=selector) for item in self._read(defaults, pod, action))

    def _read(
        self, listed: Sequence[TopologySpreadConstraint], pod: Pod, action: str
    ) -> tuple[Constraint, ...]:
        return constraints_of(listed, pod.labels, action, match_label_keys=self._match_label_keys)

    def _inclusion(self, cycle: Cycle, constraints: Sequence[Constraint]) -> Inclusion:
        nodes = cycle.cluster.nodes
        if not any(item.honors_taints for item in constraints):
            return Inclusion(cycle.cluster, cycle.pod, np.zeros(nodes.capacity, np.bool_))
        return Inclusion(cycle.cluster, cycle.pod, self._untolerated_on(cycle))

    def _untolerated_on(self, cycle: Cycle) -> NDArray[np.bool_]:
        tolerations = cycle.pod.spec.tolerations

        def untolerated(taints: Sequence[Taint]) -> bool:
            hard = (NO_SCHEDULE, NO_EXECUTE)
            return find_untolerated(taints, tolerations, hard, comparison=self._comparison) is not None

        answers = self._untolerated.to(tolerations, untolerated)
        return answers[cycle.cluster.nodes.taints].astype(np.bool_)


def build(args: object, handle: Handle) -> PodTopologySpread:
    """Build the plugin from its arguments."""
    return PodTopologySpread(
        args if isinstance(args, PodTopologySpreadArgs) else PodTopologySpreadArgs(), handle
    )
