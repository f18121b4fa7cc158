"""What becomes of a pod's claims on each node: the one answer that Filter, Score and Reserve share.

Follows `FindPodVolumes` in upstream `volumebinding/binder.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim
from kubesched.plugins.volumes.binding.assumed import Assumed
from kubesched.plugins.volumes.binding.matching import NONE, Choice, match, requested
from kubesched.plugins.volumes.binding.pod_claims import SELECTED_NODE, PodClaims
from kubesched.plugins.volumes.binding.provisioning import Provisioning, provisioning
from kubesched.plugins.volumes.binding.reach import reach_bound
from kubesched.plugins.volumes.claims import class_of_claim

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

REASONS = {
    1: "node(s) didn't match PersistentVolume's node affinity",
    2: "node(s) didn't find available persistent volumes to bind",
    4: "node(s) did not have enough free storage",
    8: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
_NODE_CONFLICT, _BIND_CONFLICT, _NO_SPACE, _NO_VOLUME = REASONS


@dataclass(slots=True)
class Matched:
    """A claim, the volumes it may get, and which it gets in each world."""

    claim: PersistentVolumeClaim
    volumes: Sequence[PersistentVolume]
    chosen: Choice


@dataclass(slots=True)
class Provisioned:
    """A claim, the worlds in which a volume is made for it, and how much room there is (bytes)."""

    claim: PersistentVolumeClaim
    needed: NDArray[np.bool_]
    capacity: NDArray[np.int64]


@dataclass(slots=True)
class Decision:
    """For K worlds: why not (sums of the keys of REASONS, 0 where all is well), and what is to be done."""

    codes: NDArray[np.int64]
    matched: list[Matched] = field(default_factory=list)
    provisioned: list[Provisioned] = field(default_factory=list)


def decide(
    cluster: ClusterReader, rows: NDArray[np.int32], claims: PodClaims, volumes: Assumed[PersistentVolume]
) -> Decision:
    """Decide for the nodes of these rows. Raises ValueError for claims that cannot be read."""
    decision = Decision(np.zeros(len(rows), np.int64))
    _check_bound(cluster, rows, claims.bound, volumes, decision)
    if claims.waiting:
        _place_waiting(cluster, rows, claims, decision)
    return decision


def _check_bound(
    cluster: ClusterReader,
    rows: NDArray[np.int32],
    bound: Sequence[PersistentVolumeClaim],
    volumes: Assumed[PersistentVolume],
    decision: Decision,
) -> None:
    """Check the volumes of bound claims in order; what the first bad one says of a node stands."""
    fine = np.ones(len(rows), np.bool_)
    for claim in bound:
        volume = volumes.current(claim.spec.volume_name)
        if volume is None:
            decision.codes[fine] |= _NO_VOLUME
            return
        reached = reach_bound(cluster, volume, rows)
        decision.codes[fine & ~reached] |= _NODE_CONFLICT
        fine &= reached


def _place_waiting(
    cluster: ClusterReader, rows: NDArray[np.int32], claims: PodClaims, decision: Decision
) -> None:
    """Find volumes for the waiting claims, smallest first, and see whether the others can be made."""
    at_home, selected = _at_selected_node(cluster, rows, claims.waiting)
    decision.codes[~at_home] |= _BIND_CONFLICT
    needed = [(claim, at_home) for claim in selected]
    taken: dict[str, list[Choice]] = {}
    for claim in sorted((c for c in claims.waiting if c not in selected), key=requested):
        name = class_of_claim(claim)
        available, others = claims.available[name], taken.setdefault(name, [])
        chosen = match(cluster.nodes, rows, claim, available, others)
        others.append(chosen)
        decision.matched.append(Matched(claim, available, chosen))
        needed.append((claim, at_home & (chosen == NONE)))
    _provision(cluster, rows, needed, decision)


def _at_selected_node(
    cluster: ClusterReader, rows: NDArray[np.int32], waiting: Sequence[PersistentVolumeClaim]
) -> tuple[NDArray[np.bool_], list[PersistentVolumeClaim]]:
    """Where no claim is promised to another node, and the claims that are promised."""
    at_home, selected = np.ones(len(rows), np.bool_), []
    for claim in waiting:
        node_name = claim.annotations.get(SELECTED_NODE)
        if node_name is not None:
            selected.append(claim)
            at_home &= rows == cluster.nodes.slot.get(node_name, NONE)
    return at_home, selected


def _provision(
    cluster: ClusterReader,
    rows: NDArray[np.int32],
    needed: Sequence[tuple[PersistentVolumeClaim, NDArray[np.bool_]]],
    decision: Decision,
) -> None:
    """Check in order whether volumes can be made; what the first that cannot says of a node stands."""
    fine = np.ones(len(rows), np.bool_)
    for claim, where in needed:
        asked = fine & where
        if not asked.any():
            continue
        answer: Provisioning = provisioning(cluster, claim)
        possible, room = answer.possible[rows], answer.room[rows]
        decision.codes[asked & ~possible] |= _BIND_CONFLICT
        decision.codes[asked & possible & ~room] |= _NO_SPACE
        fine &= ~asked | (possible & room)
        decision.provisioned.append(Provisioned(claim, where, answer.capacity[rows]))
