"""The writes that bind volumes: a volume gets its claim, a claim gets its node.

Each names the version it was decided on, so that a write over somebody else's is refused (409) and the pod is
tried anew. Upstream sends whole objects by PUT (`bindAPIUpdate` in `volumebinding/binder.go`); a patch
carries what changed alone, since the types here know only what a scheduler reads.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim
from kubesched.client.lanes import Lanes
from kubesched.client.resources import WATCHED, Resource
from kubesched.client.rest import RestClient

_RESOURCES: Mapping[str, Resource] = {resource.kind: resource for resource in WATCHED}


class VolumeWriter:
    """Writes to volumes and claims. Everything raises ApiError or UnreachableError."""

    def __init__(self, client: RestClient, lanes: Lanes) -> None:
        self._client = client
        self._lanes = lanes

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Write the volume's claimRef and annotations; give the volume as it is stored now."""
        ref = volume.spec.claim_ref
        claim_ref = {"apiVersion": "v1", **msgspec.to_builtins(ref)} if ref is not None else None
        body = {**_changes(volume), "spec": {"claimRef": claim_ref}}
        raw = await self._patch(volume, body)
        return msgspec.json.decode(raw, type=PersistentVolume)

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Write the claim's annotations; give the claim as it is stored now."""
        raw = await self._patch(claim, _changes(claim))
        return msgspec.json.decode(raw, type=PersistentVolumeClaim)

    async def _patch(self, obj: PersistentVolume | PersistentVolumeClaim, body: object) -> bytes:
        path = _RESOURCES[obj.kind].item(obj.name, obj.namespace)
        return await self._client.patch(path, self._lanes.bind, msgspec.json.encode(body))


def _changes(obj: PersistentVolume | PersistentVolumeClaim) -> dict[str, object]:
    """The annotations, and the version that they are based on."""
    meta = obj.metadata
    return {"metadata": {"resourceVersion": meta.resource_version, "annotations": dict(meta.annotations)}}
