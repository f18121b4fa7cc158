"""A pod's spread constraints as the plugin reads them, and which nodes each of them counts.

Follows upstream `podtopologyspread/common.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.affinity import TopologySpreadConstraint
from kubesched.api.labels import Selector, compile_selector, selector_from_map
from kubesched.api.nodeaffinity import required_node_affinity
from kubesched.api.objects import Pod
from kubesched.plugins.node_terms import meets_required
from kubesched.state.selectors import SelectorClass

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

HOSTNAME = "kubernetes.io/hostname"
DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
_HONOR = "Honor"


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint with its defaults filled in and its selector compiled."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool


def constraints_of(
    listed: Iterable[TopologySpreadConstraint],
    labels: Mapping[str, str],
    action: str,
    *,
    match_label_keys: bool = True,
) -> tuple[Constraint, ...]:
    """The constraints with that action; `labels` are the incoming pod's, for matchLabelKeys.

    Raises ValueError for an invalid selector.
    """
    return tuple(
        Constraint(
            max_skew=item.max_skew,
            topology_key=item.topology_key,
            selector=_selector(item, labels if match_label_keys else {}),
            min_domains=1 if item.min_domains is None else item.min_domains,
            honors_affinity=item.node_affinity_policy in (None, _HONOR),
            honors_taints=item.node_taints_policy == _HONOR,
        )
        for item in listed
        if item.when_unsatisfiable == action
    )


def _selector(item: TopologySpreadConstraint, labels: Mapping[str, str]) -> Selector:
    selector = compile_selector(item.label_selector)
    matched = {key: labels[key] for key in item.match_label_keys if key in labels}
    if not matched or selector.nothing:
        return selector
    return Selector(selector.requirements | selector_from_map(matched).requirements)


def matching_pods(cluster: ClusterReader, pod: Pod, selector: Selector) -> NDArray[np.int64]:
    """I64[N]: the pods in the incoming pod's namespace that match and do not terminate.

    An empty selector counts nothing, although it matches everything.
    """
    if selector.is_empty:
        return np.zeros(cluster.nodes.capacity, np.int64)
    wanted = SelectorClass(frozenset({pod.namespace}), selector)
    return cluster.pods.count(wanted, live_only=True).astype(np.int64)


def counted_rows(cluster: ClusterReader, counted: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The nodes on which pods count, of Bool[N]."""
    order = cluster.nodes.order
    included = counted.take(order)
    return order if included.all() else order[included]


class Inclusion:
    """Which nodes count, by the policies for node affinity and taints; each worked out once per pod.

    `untolerated` gives Bool[N]: the node has a hard taint that the pod does not tolerate.
    """

    def __init__(self, cluster: ClusterReader, pod: Pod, untolerated: NDArray[np.bool_]) -> None:
        self._cluster = cluster
        self._pod = pod
        self._untolerated = untolerated
        self._affinity: NDArray[np.bool_] | None = None

    def counts(self, constraint: Constraint) -> NDArray[np.bool_]:
        """Bool[N]: the constraint's policies include the node."""
        included = np.ones(self._cluster.nodes.capacity, np.bool_)
        if constraint.honors_affinity:
            if self._affinity is None:
                self._affinity = meets_required(self._cluster.nodes, required_node_affinity(self._pod))
            included = self._affinity
        return included & ~self._untolerated if constraint.honors_taints else included


def has_all_keys(cluster: ClusterReader, constraints: Sequence[Constraint]) -> NDArray[np.bool_]:
    """Bool[N]: the node has every topology key."""
    found = np.ones(cluster.nodes.capacity, np.bool_)
    for constraint in constraints:
        found &= cluster.nodes.label(constraint.topology_key) >= 0
    return found
