"""The lease's requests on the wire, and what is said about the leader."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from random import Random

import pytest
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, drop, running, status

from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lanes
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken
from kubesched.clock import SystemClock
from kubesched.config.types import LeaderElection
from kubesched.leaderelection import ConflictError, Lease, LeaseError, NotFoundError
from kubesched.leading import Leading, LeaseRequests

COLLECTION = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
STORED = {"metadata": {"name": "kube-scheduler", "resourceVersion": "7"}, "spec": {"holderIdentity": "x"}}


@asynccontextmanager
async def client():
    async with running() as server:
        clock = SkippingClock()
        rest = RestClient(Endpoint(server.url, StaticToken(None)), clock, user_agent="test")
        try:
            yield server, rest, Lanes(clock, qps=-1, burst=1, lease_timeout=5), clock
        finally:
            await rest.close()


async def test_the_lease_is_read_created_and_replaced():
    async with client() as (server, rest, lanes, _):
        requests = LeaseRequests(rest, lanes, "kube-system", "kube-scheduler")
        server.lists.append(answer(200, STORED))
        server.writes.extend([answer(201, STORED), answer(200, STORED)])
        lease = await requests.get()
        assert lease.spec.holder == "x"
        await requests.create(Lease())
        await requests.update(lease)
        assert [(r.method, r.path) for r in server.requests] == [
            ("GET", f"{COLLECTION}/kube-scheduler"),
            ("POST", COLLECTION),
            ("PUT", f"{COLLECTION}/kube-scheduler"),
        ]
        assert server.requests[2].json["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answer(404, status(404, "NotFound")), NotFoundError),
        (answer(409, status(409, "Conflict")), ConflictError),
        (answer(403, status(403, "Forbidden")), LeaseError),
        (answer(200, b"junk"), LeaseError),
        (drop, LeaseError),
    ],
    ids=["404", "409", "403", "junk", "no reply"],
)
async def test_failures_are_told_apart(reply, error):
    async with client() as (server, rest, lanes, _):
        server.writes.append(reply)
        with pytest.raises(LeaseError) as caught:
            await LeaseRequests(rest, lanes, "kube-system", "kube-scheduler").update(Lease())
        assert type(caught.value) is error


async def test_becoming_the_leader_is_an_event_on_the_lease():
    """In real time: the election gives every request a limit by its clock."""
    async with client() as (server, rest, lanes, _):
        leading = Leading(
            LeaderElection(), rest, lanes, clock=SystemClock(), rng=Random(1), component="default-scheduler"
        )
        stored = {**STORED, "metadata": {**STORED["metadata"], "namespace": "kube-system"}}
        server.lists.append(answer(404, status(404, "NotFound")))
        server.writes.extend([answer(201, stored)] * 4)
        said = asyncio.Event()

        async def lead() -> None:
            while not any(request.path.endswith("/events") for request in server.requests):
                server.arrived.clear()
                await server.arrived.wait()
            said.set()

        async with asyncio.timeout(10):
            await leading.elector.run(lead)
        event = next(request for request in server.requests if request.path.endswith("/events"))
        assert event.path == "/api/v1/namespaces/kube-system/events"
        assert event.json["message"] == f"{leading.identity} became leader"
        assert (event.json["reason"], event.json["type"]) == ("LeaderElection", "Normal")
        assert event.json["involvedObject"]["kind"] == "Lease"
        assert event.json["source"] == {"component": "default-scheduler"}
        assert leading.health() is None
        assert said.is_set()


def test_two_processes_on_one_machine_are_two_candidates():
    clock = SkippingClock()
    lanes = Lanes(clock, qps=-1, burst=1, lease_timeout=5)
    made = [
        Leading(LeaderElection(), None, lanes, clock=clock, rng=Random(1), component="x").identity
        for _ in range(2)
    ]
    assert made[0] != made[1]
