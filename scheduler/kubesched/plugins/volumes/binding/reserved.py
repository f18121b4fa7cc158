"""What was promised to a pod on its node, and carrying it out: assume, write, wait.

Follows `AssumePodVolumes`, `BindPodVolumes` and `checkBindings` in upstream `volumebinding/binder.go`, and
`GetBindVolumeToClaim` (component-helpers `storage/volume`, 1.36).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim, Pod
from kubesched.api.storage import ObjectReference
from kubesched.framework import VolumeWriter
from kubesched.plugins.volumes.binding.assumed import Assumed
from kubesched.plugins.volumes.binding.decision import Decision
from kubesched.plugins.volumes.binding.matching import NONE, is_for
from kubesched.plugins.volumes.binding.pod_claims import BOUND_BY_CONTROLLER, SELECTED_NODE, is_bound
from kubesched.plugins.volumes.binding.reach import reach_bound

if TYPE_CHECKING:
    from kubesched.clock import Clock
    from kubesched.state import ClusterReader

# Seconds between two looks at whether the volumes are bound.
_LOOK = 1.0


@dataclass(slots=True)
class Reserved:
    """Volumes that get their claims, and claims that get a node, in the order of the decision."""

    pod: Pod
    node_name: str
    volumes: list[tuple[PersistentVolume, PersistentVolumeClaim]] = field(default_factory=list)
    claims: list[PersistentVolumeClaim] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Store:
    """Claims and volumes as they are and as they will be."""

    cluster: ClusterReader
    claims: Assumed[PersistentVolumeClaim]
    volumes: Assumed[PersistentVolume]

    def reserve(self, pod: Pod, node_name: str, decision: Decision) -> Reserved:
        """Assume what was decided for one world; all or nothing. Raises ValueError when state has moved."""
        reserved = Reserved(pod, node_name)
        try:
            for item in decision.matched:
                if item.chosen[0] != NONE:
                    volume = item.volumes[item.chosen[0]]
                    given = given_to(volume, item.claim)
                    if given is not volume:
                        self.volumes.assume(given)
                    reserved.volumes.append((given, item.claim))
            for wanted in decision.provisioned:
                if wanted.needed[0]:
                    promised = _annotated(wanted.claim, SELECTED_NODE, node_name)
                    self.claims.assume(promised)
                    reserved.claims.append(promised)
        except ValueError:
            self.restore(reserved)
            raise
        return reserved

    def restore(self, reserved: Reserved) -> None:
        """Take back what was assumed and not yet written."""
        for volume, _ in reserved.volumes:
            self.volumes.restore(volume)
        for claim in reserved.claims:
            self.claims.restore(claim)

    async def bind(self, reserved: Reserved, writer: VolumeWriter, clock: Clock, within: float) -> None:
        """Write what was promised and wait until all is bound.

        Raises ValueError when binding failed or took more than `within` seconds, and what the writer raises.
        """
        for number, (volume, claim) in enumerate(reserved.volumes):
            reserved.volumes[number] = (await writer.update_volume(volume), claim)
        for number, claim in enumerate(reserved.claims):
            reserved.claims[number] = await writer.update_claim(claim)
        deadline = clock.now() + within
        while True:
            await clock.sleep(min(_LOOK, max(deadline - clock.now(), 0.0)))
            if clock.now() >= deadline:
                raise ValueError("binding volumes: context deadline exceeded")
            try:
                if self._all_bound(reserved):
                    return
            except ValueError as error:
                raise ValueError(f"binding volumes: {error}") from error

    def _all_bound(self, reserved: Reserved) -> bool:
        """Whether everything is bound; ValueError when it cannot come to that any more."""
        pod, node_name = reserved.pod, reserved.node_name
        if self.cluster.get("Node", node_name) is None:
            raise ValueError(f'failed to get node "{node_name}": node "{node_name}" not found')
        found = self.cluster.get("Pod", pod.key)
        if found is None or found.uid != pod.uid:
            raise ValueError(f'pod does not exist any more: pod "{pod.name}" not found')
        return all(
            self._volume_bound(node_name, volume, claim) for volume, claim in reserved.volumes
        ) and all(self._claim_bound(node_name, claim) for claim in reserved.claims)

    def _volume_bound(self, node_name: str, written: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        volume, bound = self.volumes.stored(written.name), self.claims.stored(claim.key)
        if volume is None:
            raise ValueError(f'failed to check binding: persistentvolume "{written.name}" not found')
        if bound is None:
            raise ValueError(f'failed to check binding: persistentvolumeclaim "{claim.key}" not found')
        if _older(volume, written):
            return False
        self._check_reach(volume, node_name)
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise ValueError(f'ClaimRef got reset for pv "{volume.name}"')
        return is_bound(bound)

    def _claim_bound(self, node_name: str, written: PersistentVolumeClaim) -> bool:
        claim = self.claims.stored(written.key)
        if claim is None:
            text = f'failed to check provisioning pvc: persistentvolumeclaim "{written.key}" not found'
            raise ValueError(text)
        if _older(claim, written):
            return False
        if not claim.annotations:
            raise ValueError(f'selectedNode annotation reset for PVC "{claim.name}"')
        if claim.annotations.get(SELECTED_NODE) != node_name:
            raise ValueError(f'provisioning failed for PVC "{claim.name}"')
        if claim.spec.volume_name:
            volume = self.volumes.stored(claim.spec.volume_name)
            if volume is None:
                return False
            self._check_reach(volume, node_name)
        return is_bound(claim)

    def _check_reach(self, volume: PersistentVolume, node_name: str) -> None:
        rows = np.array([self.cluster.nodes.slot[node_name]], np.int32)
        if not reach_bound(self.cluster, volume, rows)[0]:
            text = f'pv "{volume.name}" node affinity doesn\'t match node "{node_name}"'
            raise ValueError(f"{text}: no matching NodeSelectorTerms")


def given_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume bound to the claim; itself if it is already. One set aside by hand keeps no mark of ours."""
    changed = volume
    ref = volume.spec.claim_ref
    complete = (claim.namespace, claim.name, claim.metadata.uid)
    if ref is None or (ref.namespace, ref.name, ref.uid) != complete:
        made = ObjectReference(
            kind=claim.kind, namespace=claim.namespace, name=claim.name, uid=claim.metadata.uid
        )
        changed = replace(changed, spec=replace(volume.spec, claim_ref=made))
    if not is_for(volume, claim) and BOUND_BY_CONTROLLER not in volume.annotations:
        changed = replace(
            changed,
            metadata=replace(
                changed.metadata, annotations={**volume.annotations, BOUND_BY_CONTROLLER: "yes"}
            ),
        )
    return changed


def _annotated(claim: PersistentVolumeClaim, key: str, text: str) -> PersistentVolumeClaim:
    annotations = {**claim.annotations, key: text}
    return replace(claim, metadata=replace(claim.metadata, annotations=annotations))


def _older(
    stored: PersistentVolume | PersistentVolumeClaim, written: PersistentVolume | PersistentVolumeClaim
) -> bool:
    """Whether the watch has not yet shown what was written."""
    return int(stored.metadata.resource_version or 0) < int(written.metadata.resource_version or 0)
