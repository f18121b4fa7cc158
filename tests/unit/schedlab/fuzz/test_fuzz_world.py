"""The world writes what plans say, and mirrors pods in the order of their writes."""

from __future__ import annotations

import asyncio

import pytest

from schedlab.api.client import ApiError
from schedlab.api.discovery import Resource
from schedlab.fuzz.world import World, by_kind

PLURALS = {
    "Pod": "pods",
    "Node": "nodes",
    "Namespace": "namespaces",
    "PodDisruptionBudget": "poddisruptionbudgets",
}


class FakeClient:
    """Remembers requests; `answers` says what is stored or raised; the object "slow" waits for "quick"."""

    def __init__(self):
        self.requests = []
        self.answers = {}
        self.version = 0
        self.slow = asyncio.Event()

    async def resource(self, api_version, kind):
        plural = PLURALS.get(kind, f"{kind.lower()}s")
        return Resource(api_version, kind, plural, namespaced=kind not in ("Node", "Namespace"))

    async def get(self, resource, namespace, name):
        return await self.request("GET", resource.path(namespace, name))

    async def request(self, method, path, *, body=None, content_type=""):
        if body and (body.get("metadata") or {}).get("name") == "slow":
            await self.slow.wait()
        self.requests.append((method, path, body))
        if body and (body.get("metadata") or {}).get("name") == "quick":
            self.slow.set()
        answer = self.answers.get((method, path))
        if isinstance(answer, Exception):
            raise answer
        self.version += 1
        stored = answer or {**(body or {})}
        return {**stored, "metadata": {**stored.get("metadata", {}), "resourceVersion": str(self.version)}}


@pytest.fixture
def client():
    return FakeClient()


@pytest.fixture
def world(client):
    return World(client)


def pod(name="p", **more):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", **more},
        "spec": {},
    }


POD = Resource("v1", "Pod", "pods", namespaced=True)
PODS = "/api/v1/namespaces/ns/pods"


async def test_a_status_is_written_apart_and_a_deletion_afterwards(client, world):
    client.answers["POST", PODS] = pod()
    client.answers["PATCH", f"{PODS}/p/status"] = pod()
    status = {"phase": "Running", "startTime": "then"}
    await world.create({**pod(deletionTimestamp="soon"), "status": status})
    assert [(method, path) for method, path, _ in client.requests] == [
        ("POST", PODS),
        ("PATCH", f"{PODS}/p/status"),
        ("DELETE", f"{PODS}/p"),
    ]
    created, patched, deleted = (body for _, _, body in client.requests)
    assert "deletionTimestamp" not in created["metadata"]
    assert patched == {"status": {"startTime": "then"}}
    assert deleted["gracePeriodSeconds"] == 30


@pytest.mark.parametrize(("phase", "writes"), [("Running", 1), ("Pending", 1), ("Succeeded", 2)])
async def test_only_the_phase_of_a_finished_pod_is_worth_a_write(client, world, phase, writes):
    client.answers["POST", PODS] = client.answers["PATCH", f"{PODS}/p/status"] = pod()
    await world.create({**pod(), "status": {"phase": phase}})
    assert len(client.requests) == writes


async def test_a_node_keeps_the_status_it_is_created_with(client, world):
    await world.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"x": 1}})
    assert [method for method, *_ in client.requests] == ["POST"]


async def test_a_namespace_is_made_if_it_is_missing(client, world):
    client.answers["GET", "/api/v1/namespaces/blue"] = ApiError("GET", 404, "NotFound", "no")
    await world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue"}})
    assert [(method, path) for method, path, _ in client.requests][-1] == ("POST", "/api/v1/namespaces")


async def test_a_namespace_that_is_there_gets_exactly_these_labels(client, world):
    there = {"metadata": {"name": "blue", "labels": {"team": "x", "kubernetes.io/metadata.name": "blue"}}}
    client.answers["GET", "/api/v1/namespaces/blue"] = there
    blue = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue", "labels": {"tier": "y"}}}
    await world.create(blue)
    assert client.requests[-1][2]["metadata"]["labels"] == {
        "team": None,
        "tier": "y",
        "kubernetes.io/metadata.name": "blue",
    }


async def test_a_namespace_that_has_these_labels_is_left_alone_and_then_known(client, world):
    labels = {"team": "x", "kubernetes.io/metadata.name": "blue"}
    client.answers["GET", "/api/v1/namespaces/blue"] = {"metadata": {"name": "blue", "labels": labels}}
    blue = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue", "labels": {"team": "x"}}}
    for _ in range(2):
        await world.create(blue)
    assert [method for method, *_ in client.requests] == ["GET"]


async def test_a_refusal_is_told_only_once_all_requests_have_ended(client, world):
    client.answers["POST", "/api/v1/namespaces/bad/pods"] = ApiError("POST", 422, "Invalid", "bad")
    bad = pod("bad")
    bad["metadata"]["namespace"] = "bad"
    creating = asyncio.create_task(world.create_all([bad, pod("slow")]))
    done, _ = await asyncio.wait({creating}, timeout=0.05)
    assert not done
    client.slow.set()
    with pytest.raises(ApiError, match="bad"):
        await creating
    assert any(body and body["metadata"]["name"] == "slow" for _, _, body in client.requests)


async def test_objects_come_back_in_the_order_of_their_writes(client, world):
    made = await world.create_all([pod("slow"), pod("quick")])
    assert [one["metadata"]["name"] for one in made] == ["quick", "slow"]


async def test_clearing_deletes_what_was_used_and_nodes_last(client, world):
    await world.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    await world.create(pod())
    client.requests.clear()
    await world.clear()
    assert [(method, path) for method, path, _ in client.requests] == [
        ("DELETE", PODS),
        ("DELETE", "/api/v1/nodes"),
    ]
    assert all(body["propagationPolicy"] == "Background" for _, _, body in client.requests)


async def test_deleting_what_is_gone_is_fine_and_other_refusals_are_not(client, world):
    client.answers["DELETE", f"{PODS}/p"] = ApiError("DELETE", 404, "NotFound", "gone")
    await world.delete(pod())
    client.answers["DELETE", f"{PODS}/p"] = ApiError("DELETE", 403, "Forbidden", "no")
    with pytest.raises(ApiError):
        await world.delete(pod())


def seen(world, change, name, version, **more):
    world.changed(POD, change, pod(name, uid=f"uid-{name}", resourceVersion=str(version), **more))


def test_events_about_decisions_are_noted(world):
    event = Resource("events.k8s.io/v1", "Event", "events", namespaced=True)
    said = {"reason": "FailedScheduling", "regarding": {"uid": "uid-a"}, "note": "no fit"}
    world.changed(event, "ADDED", said)
    world.changed(event, "ADDED", {**said, "reason": "Preempted", "note": "sorry"})
    assert world.note("uid-a") == "no fit"
    assert world.note("uid-b") is None


def test_changes_before_an_arrival_are_the_last_of_each_pod_in_order(world):
    seen(world, "ADDED", "a", 1)
    seen(world, "ADDED", "b", 2)
    seen(world, "MODIFIED", "a", 3)
    seen(world, "DELETED", "b", 4)
    seen(world, "ADDED", "c", 5)
    seen(world, "MODIFIED", "a", 6)
    before = world.changes_before("uid-c")
    assert [(one.type, one.object["metadata"]["name"]) for one in before] == [
        ("MODIFIED", "a"),
        ("DELETED", "b"),
    ]
    assert "resourceVersion" not in before[0].object["metadata"]
    assert [one.type for one in world.changes_before("uid-other")] == ["ADDED", "MODIFIED"]


def test_a_pod_is_seen_once_the_watch_shows_its_version(world):
    stored = pod("a", uid="uid-a", resourceVersion="3")
    assert not world.seen(stored)
    seen(world, "ADDED", "a", 2)
    assert not world.seen(stored)
    seen(world, "MODIFIED", "a", 3)
    assert world.seen(stored)
    assert world.staying() == {"ns/a"}
    seen(world, "MODIFIED", "a", 4, deletionTimestamp="t")
    assert world.staying() == set()
    assert not world.is_empty
    seen(world, "DELETED", "a", 5)
    assert world.is_empty


def test_objects_are_grouped_by_kind_in_order():
    assert by_kind([pod("a"), {"kind": "Node"}, pod("b")]) == {
        "Pod": [pod("a"), pod("b")],
        "Node": [{"kind": "Node"}],
    }
