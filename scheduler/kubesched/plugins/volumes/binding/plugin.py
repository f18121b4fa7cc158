"""VolumeBinding: a pod goes only where all its claims have, or can get, their volumes.

Follows upstream `volumebinding/volume_binding.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim, Pod
from kubesched.config.args import VolumeBindingArgs
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Codes,
    Cycle,
    Handle,
    Points,
    PreFlight,
    Slot,
    Status,
    View,
    error,
    unresolvable,
)
from kubesched.plugins.noderesources.strategies import shape_table
from kubesched.plugins.volumes.binding import hints, scoring
from kubesched.plugins.volumes.binding.assumed import Assumed
from kubesched.plugins.volumes.binding.decision import REASONS, decide
from kubesched.plugins.volumes.binding.pod_claims import (
    PodClaims,
    claims_of,
    is_bound,
    sort_claims,
    unusable_claim,
)
from kubesched.plugins.volumes.binding.reserved import Reserved, Store
from kubesched.plugins.volumes.claims import all_claims

OVERDUE = unresolvable("pod has unbound immediate PersistentVolumeClaims")
_CLAIMS: Slot[PodClaims] = Slot("VolumeBinding claims")
_RESERVED: Slot[Reserved] = Slot("VolumeBinding reserved")


class VolumeBinding:
    """Finds, keeps and binds the volumes of a pod's claims."""

    name: ClassVar[str] = "VolumeBinding"

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._handle = handle
        self._timeout = float(args.bind_timeout_seconds)
        self._scored = handle.gates.enabled("StorageCapacityScoring")
        self._table = shape_table(args.shape) if self._scored else np.zeros(0, np.int64)
        self._store = Store(
            handle.cluster,
            Assumed(handle.cluster, PersistentVolumeClaim),
            Assumed(handle.cluster, PersistentVolume),
        )

    def sign(self, pod: Pod) -> Hashable | None:
        """Nothing counts for a pod without storage; for others, claims and volumes do."""
        return None if pod.has_storage else ()

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Sort the pod's claims; refuse those that nothing can bind any more; skip pods without claims."""
        if not any(True for _ in all_claims(cycle.pod)):
            return SKIP
        if problem := unusable_claim(cycle.cluster, cycle.pod):
            return unresolvable(problem)
        try:
            claims = sort_claims(cycle.cluster, cycle.pod, self._store.claims, self._store.volumes)
        except ValueError as failure:
            return error(str(failure))
        if claims.overdue:
            return OVERDUE
        cycle.put(_CLAIMS, claims)
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """Decide for every node; ValueError for claims that cannot be read."""
        return decide(cycle.cluster, view.rows, cycle.get(_CLAIMS), self._store.volumes).codes

    def status(self, _cycle: Cycle, code: int) -> Status:
        """All reasons of the node, in upstream's order."""
        return unresolvable(*(reason for bit, reason in REASONS.items() if code & bit))

    def pre_score(self, cycle: Cycle, _view: View) -> Status | None:
        """Storage is scored only behind its gate."""
        return None if self._scored and cycle.find(_CLAIMS) is not None else SKIP

    def score(self, cycle: Cycle, view: View) -> Points:
        """Prefer nodes as the shape says of the use of their storage."""
        decision = decide(cycle.cluster, view.rows, cycle.get(_CLAIMS), self._store.volumes)
        return scoring.points(decision, self._table)

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        """Assume what the pod needs on its node, so that the next pod cannot have it."""
        claims, cluster = cycle.find(_CLAIMS), cycle.cluster
        if claims is None or all(map(is_bound, claims_of(cycle.pod, self._store.claims))):
            return None
        rows = np.array([cluster.nodes.slot[node_name]], np.int32)
        try:
            decision = decide(cluster, rows, claims, self._store.volumes)
            cycle.put(_RESERVED, self._store.reserve(cycle.pod, node_name, decision))
        except ValueError as failure:
            return error(str(failure))
        return None

    def unreserve(self, cycle: Cycle, _node_name: str) -> None:
        """Take back what was assumed and not yet written."""
        reserved = cycle.find(_RESERVED)
        if reserved is not None:
            self._store.restore(reserved)

    def pre_bind_pre_flight(self, cycle: Cycle, _node_name: str) -> PreFlight | Status:
        """There is something to do if something was reserved."""
        return SKIP if cycle.find(_RESERVED) is None else PreFlight(parallel=True)

    async def pre_bind(self, cycle: Cycle, _node_name: str) -> Status | None:
        """Write what was reserved and wait until it is bound."""
        writer, reserved = self._handle.volume_writer, cycle.get(_RESERVED)
        if writer is None:
            return error("this scheduler writes no volumes")
        try:
            await self._store.bind(reserved, writer, self._handle.clock, self._timeout)
        except ValueError as failure:
            return error(str(failure))
        return None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Everything that takes part in binding."""
        return hints.events()


def build(args: object, handle: Handle) -> VolumeBinding:
    """Build the plugin from its arguments."""
    return VolumeBinding(args if isinstance(args, VolumeBindingArgs) else VolumeBindingArgs(), handle)
