"""Writes to pods: a binding is neither lost nor done twice, whatever the network does."""

from __future__ import annotations

from contextlib import asynccontextmanager
from random import Random

import pytest
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, drop, running, status

from kubesched.api.objects import ObjectMeta, Pod
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lanes
from kubesched.client.pods import PodWriter
from kubesched.client.podstatus import unscheduled
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken

POD = Pod(metadata=ObjectMeta(name="p", namespace="n", uid="u"))


def stored(uid: str = "u", node: str = "") -> object:
    """The pod as the server would show it."""
    return answer(200, {"metadata": {"uid": uid}, "spec": {"nodeName": node}})


@asynccontextmanager
async def writer():
    async with running() as server:
        clock = SkippingClock()
        rest = RestClient(Endpoint(server.url, StaticToken(None)), clock, user_agent="test")
        lanes = Lanes(clock, qps=-1, burst=1, lease_timeout=5)
        try:
            yield server, PodWriter(rest, lanes, clock, Random(1)), clock
        finally:
            await rest.close()


async def test_a_binding_names_pod_uid_and_node():
    async with writer() as (server, pods, _):
        server.writes.append(answer(201, status(201, "")))
        await pods.bind(POD, "node")
        (request,) = server.requests
        assert (request.method, request.path) == ("POST", "/api/v1/namespaces/n/pods/p/binding")
        assert request.json == {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "p", "namespace": "n", "uid": "u"},
            "target": {"kind": "Node", "name": "node"},
        }


LOST = [
    drop,
    answer(504, status(504, "Timeout", "request timed out")),
    answer(500, status(500, "InternalError")),
]
IDS = ["reply lost", "504", "500"]


@pytest.mark.parametrize("lost", LOST, ids=IDS)
async def test_a_binding_whose_reply_is_lost_but_was_applied_is_a_success(lost):
    """kubernetes/kubernetes#96579."""
    async with writer() as (server, pods, _):
        server.writes.append(lost)
        server.lists.append(stored(node="node"))
        await pods.bind(POD, "node")
        assert [r.method for r in server.requests] == ["POST", "GET"]


@pytest.mark.parametrize("lost", LOST, ids=IDS)
@pytest.mark.parametrize(
    "seen",
    [stored(), stored(node="other"), stored(uid="new", node="node"), answer(404, status(404, "NotFound"))],
    ids=["still unbound", "bound elsewhere", "recreated under its name", "gone"],
)
async def test_a_binding_that_was_not_applied_fails(lost, seen):
    async with writer() as (server, pods, _):
        server.writes.append(lost)
        server.lists.append(seen)
        with pytest.raises((ApiError, UnreachableError)):
            await pods.bind(POD, "node")
        assert [r.method for r in server.requests] == ["POST", "GET"], "it is never sent twice"


async def test_while_nobody_can_say_the_pod_keeps_its_place():
    async with writer() as (server, pods, clock):
        server.writes.append(drop)
        server.lists.extend(
            [answer(503, b"down"), answer(403, status(403, "Forbidden")), stored(node="node")]
        )
        await pods.bind(POD, "node")
        assert len(clock.slept) == 2


async def test_a_conflict_with_our_own_earlier_binding_is_a_success():
    async with writer() as (server, pods, _):
        server.writes.append(answer(409, status(409, "Conflict", "pod p is already assigned to node node")))
        server.lists.append(stored(node="node"))
        await pods.bind(POD, "node")


async def test_a_refusal_is_the_servers_words():
    async with writer() as (server, pods, _):
        server.writes.append(answer(404, status(404, "NotFound", 'pods "p" not found')))
        with pytest.raises(ApiError, match='pods "p" not found'):
            await pods.bind(POD, "node")
        assert len(server.requests) == 1


async def test_a_status_is_patched_on_its_subresource():
    async with writer() as (server, pods, _):
        server.writes.append(answer(200, b"{}"))
        await pods.patch_status(POD, unscheduled("Unschedulable", "m"), "a")
        (request,) = server.requests
        assert (request.method, request.path) == ("PATCH", "/api/v1/namespaces/n/pods/p/status")
        assert request.json["status"]["nominatedNodeName"] == "a"


async def test_nothing_to_say_is_no_request():
    async with writer() as (server, pods, _):
        await pods.patch_status(POD, None, None)
        await pods.patch_status(POD, None, "")
        assert server.requests == []


async def test_a_patch_is_tried_four_times_when_the_server_has_trouble():
    async with writer() as (server, pods, clock):
        server.writes.extend([answer(500, status(500, "InternalError"))] * 5)
        with pytest.raises(ApiError):
            await pods.patch_status(POD, unscheduled("Unschedulable", "m"))
        assert len(server.requests) == 4
        assert len(clock.slept) == 3


async def test_a_patch_that_is_refused_is_not_repeated():
    async with writer() as (server, pods, _):
        server.writes.append(answer(409, status(409, "Conflict")))
        with pytest.raises(ApiError):
            await pods.patch_status(POD, unscheduled("Unschedulable", "m"))
        assert len(server.requests) == 1


async def test_a_pod_recreated_under_its_name_is_a_conflict():
    """The server calls another UID an invalid change of metadata."""
    message = 'Pod "p" is invalid: metadata.uid: Invalid value: "u": field is immutable'
    async with writer() as (server, pods, _):
        server.writes.append(answer(422, status(422, "Invalid", message)))
        with pytest.raises(ApiError) as refused:
            await pods.patch_status(POD, unscheduled("Unschedulable", "m"))
        assert refused.value.conflict


async def test_a_deletion_is_of_that_very_pod():
    async with writer() as (server, pods, _):
        server.writes.append(answer(200, b"{}"))
        await pods.delete(POD)
        (request,) = server.requests
        assert (request.method, request.path) == ("DELETE", "/api/v1/namespaces/n/pods/p")
        assert request.json["preconditions"] == {"uid": "u"}


@pytest.mark.parametrize("code", [404, 409])
async def test_a_pod_that_is_gone_or_recreated_needs_no_deletion(code):
    async with writer() as (server, pods, _):
        server.writes.append(answer(code, status(code, "X")))
        await pods.delete(POD)


async def test_a_deletion_that_fails_says_so():
    async with writer() as (server, pods, _):
        server.writes.append(answer(403, status(403, "Forbidden", "no")))
        with pytest.raises(ApiError, match="no"):
            await pods.delete(POD)
