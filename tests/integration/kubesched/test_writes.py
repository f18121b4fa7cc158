"""What the client writes, judged by a real API server."""

from __future__ import annotations

import asyncio
from random import Random

import msgspec
import pytest
from kubernetes.client import EventsV1Api
from tests.integration.kubesched.conftest import USER
from tests.integration.kubesched.objects import pod

from kubesched.api.objects import Pod, decode
from kubesched.client.errors import ApiError
from kubesched.client.events import EventRecorder
from kubesched.client.kubeconfig import load
from kubesched.client.lanes import Lanes
from kubesched.client.pods import PodWriter
from kubesched.client.podstatus import unscheduled
from kubesched.client.resources import PODS
from kubesched.client.rest import RestClient
from kubesched.clock import SystemClock

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]


@pytest.fixture
async def client(lab):
    """A client as the scheduler's user, and its lanes."""
    clock = SystemClock()
    rest = RestClient(load(lab.plane.kubeconfig(USER), clock), clock, user_agent="test")
    yield rest, Lanes(clock, qps=-1, burst=1, lease_timeout=5), clock
    await rest.close()


async def stored(client, namespace: str, name: str) -> Pod:
    rest, lanes, _ = client
    found = decode("Pod", await rest.get(PODS.item(name, namespace), lanes.read))
    assert isinstance(found, Pod)
    return found


def recreated(of: Pod) -> Pod:
    """The same name with another UID: what a scheduler may still believe in."""
    return msgspec.structs.replace(of, metadata=msgspec.structs.replace(of.metadata, uid="0-0-0-0"))


async def test_a_binding_is_made_once_and_only_to_that_very_pod(lab, client, namespace):
    lab.core().create_namespaced_pod(namespace, pod("p"))
    writer = PodWriter(*client, Random(1))
    seen = await stored(client, namespace, "p")
    with pytest.raises(ApiError) as refused:
        await writer.bind(recreated(seen), "cpu-32-0")
    assert refused.value.conflict
    await writer.bind(seen, "cpu-32-0")
    assert (await stored(client, namespace, "p")).node_name == "cpu-32-0"
    await writer.bind(seen, "cpu-32-0")
    with pytest.raises(ApiError) as refused:
        await writer.bind(seen, "cpu-32-1")
    assert refused.value.conflict


async def test_a_condition_and_a_nomination_are_written_and_cleared(lab, client, namespace):
    lab.core().create_namespaced_pod(namespace, pod("p"))
    writer = PodWriter(*client, Random(1))
    await writer.patch_status(
        await stored(client, namespace, "p"), unscheduled("Unschedulable", "m"), "cpu-32-0"
    )
    seen = await stored(client, namespace, "p")
    assert seen.nominated_node_name == "cpu-32-0"
    (found,) = [c for c in seen.status.conditions if c.type == "PodScheduled"]
    assert (found.status, found.reason, found.message, found.observed_generation) == (
        "False",
        "Unschedulable",
        "m",
        seen.metadata.generation,
    )
    await writer.patch_status(seen, None, "")
    assert (await stored(client, namespace, "p")).nominated_node_name == ""


async def test_another_pods_story_is_not_told_to_its_successor(lab, client, namespace):
    lab.core().create_namespaced_pod(namespace, pod("p"))
    seen = await stored(client, namespace, "p")
    writer = PodWriter(*client, Random(1))
    with pytest.raises(ApiError) as refused:
        await writer.patch_status(recreated(seen), unscheduled("Unschedulable", "m"))
    assert refused.value.conflict
    await writer.delete(recreated(seen))
    assert not (await stored(client, namespace, "p")).is_terminating
    await writer.delete(seen)


async def test_a_repeated_event_is_one_series(lab, client, namespace):
    lab.core().create_namespaced_pod(namespace, pod("p"))
    rest, lanes, clock = client
    recorder = EventRecorder(rest, lanes.event, clock, Random(1))
    task = asyncio.create_task(recorder.run())
    seen = await stored(client, namespace, "p")
    for note in ("first", "second", "third"):
        recorder.record(
            seen,
            severity="Warning",
            reason="FailedScheduling",
            action="Scheduling",
            note=note,
            controller="x",
        )
        await recorder.flush(5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    found = EventsV1Api(lab.core().api_client).list_namespaced_event(namespace).items
    (event,) = [e for e in found if e.reason == "FailedScheduling"]
    assert (event.note, event.series.count, event.type) == ("first", 2, "Warning")
