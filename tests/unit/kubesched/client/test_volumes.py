"""Writes that bind volumes: only over the version that was decided on."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, running, status

from kubesched.client.errors import ApiError
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lanes
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken
from kubesched.client.volumes import VolumeWriter
from kubesched.testing.storage import claim, volume


@asynccontextmanager
async def writer():
    async with running() as server:
        clock = SkippingClock()
        rest = RestClient(Endpoint(server.url, StaticToken(None)), clock, user_agent="test")
        try:
            yield server, VolumeWriter(rest, Lanes(clock, qps=-1, burst=1, lease_timeout=5))
        finally:
            await rest.close()


async def test_a_volume_gets_its_claim():
    """The patch names the claim and the version; the answer is the volume as stored."""
    async with writer() as (server, volumes):
        server.writes.append(answer(200, {"metadata": {"name": "v", "resourceVersion": "2"}}))
        stored = await volumes.update_volume(volume("v", claimed_by="c"))
        (request,) = server.requests
        assert (request.method, request.path) == ("PATCH", "/api/v1/persistentvolumes/v")
        assert request.json == {
            "metadata": {"resourceVersion": "1", "annotations": {}},
            "spec": {
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": "default",
                    "name": "c",
                    "uid": "uid-claim-c",
                }
            },
        }
        assert stored.metadata.resource_version == "2"


async def test_a_claim_gets_its_node():
    """Only annotations are written."""
    async with writer() as (server, volumes):
        server.writes.append(answer(200, {"metadata": {"name": "c", "resourceVersion": "2"}}))
        await volumes.update_claim(claim("c", annotations={"volume.kubernetes.io/selected-node": "n"}))
        (request,) = server.requests
        assert request.path == "/api/v1/namespaces/default/persistentvolumeclaims/c"
        assert request.json == {
            "metadata": {
                "resourceVersion": "1",
                "annotations": {"volume.kubernetes.io/selected-node": "n"},
            }
        }


async def test_somebody_elses_write_is_not_undone():
    """A conflict is for the caller, who decides anew."""
    async with writer() as (server, volumes):
        server.writes.append(answer(409, status(409, "Conflict", "the object has been modified")))
        with pytest.raises(ApiError, match="the object has been modified"):
            await volumes.update_claim(claim("c"))
