"""Events: upstream's form, series, bounds."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from random import Random

import pytest
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, drop, running, status

from kubesched.api.objects import ObjectMeta, Pod
from kubesched.client import events
from kubesched.client.events import EventRecorder, truncate
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lanes
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken

COLLECTION = "/apis/events.k8s.io/v1/namespaces/n/events"


def pod(name: str = "p", version: str = "7") -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="n", uid=f"uid-{name}", resource_version=version))


class Clock(SkippingClock):
    """Retries take no time; the periodic work of the recorder waits for ever."""

    wall_now = 1_600_000_000.25

    def wall(self) -> float:
        return self.wall_now

    async def sleep(self, seconds: float) -> None:
        if seconds >= 360:
            await asyncio.Event().wait()
        await super().sleep(seconds)


@asynccontextmanager
async def recorder(start: bool = True):
    async with running() as server:
        clock = Clock()
        rest = RestClient(Endpoint(server.url, StaticToken(None)), clock, user_agent="test")
        lane = Lanes(clock, qps=-1, burst=1, lease_timeout=5).event
        it = EventRecorder(rest, lane, clock, Random(1), hostname="host")
        task = asyncio.create_task(it.run()) if start else None
        try:
            yield server, it, clock
        finally:
            if task:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await rest.close()


def failed(it: EventRecorder, regarding: Pod | None = None, note: str = "no room", **other) -> None:
    it.record(
        regarding or pod(),
        severity="Warning",
        reason="FailedScheduling",
        action="Scheduling",
        note=note,
        controller="gpu",
        **other,
    )


async def written(it: EventRecorder) -> None:
    async with asyncio.timeout(5):
        await it._jobs.join()


async def test_an_event_has_upstreams_form():
    async with recorder() as (server, it, _):
        server.writes.append(answer(201, b"{}"))
        failed(it)
        await written(it)
        (request,) = server.requests
        assert (request.method, request.path) == ("POST", COLLECTION)
        assert request.json == {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"p.{int(1_600_000_000.25 * 1e9):x}", "namespace": "n"},
            "eventTime": "2020-09-13T12:26:40.250000Z",
            "reportingController": "gpu",
            "reportingInstance": "gpu-host",
            "action": "Scheduling",
            "reason": "FailedScheduling",
            "regarding": {
                "kind": "Pod",
                "namespace": "n",
                "name": "p",
                "uid": "uid-p",
                "apiVersion": "v1",
                "resourceVersion": "7",
            },
            "note": "no room",
            "type": "Warning",
        }


async def test_a_related_object_is_named():
    async with recorder() as (server, it, _):
        server.writes.append(answer(201, b"{}"))
        failed(it, related=pod("other"))
        await written(it)
        assert server.requests[0].json["related"]["name"] == "other"


async def test_a_repetition_becomes_a_series_and_only_its_second_occurrence_is_written():
    """The note is not part of what makes events equal, so the series keeps its first text."""
    async with recorder() as (server, it, _):
        server.writes.extend([answer(201, b"{}"), answer(200, b"{}")])
        failed(it)
        await written(it)
        for note in ("another text", "a third", "a fourth"):
            failed(it, note=note)
        await written(it)
        create, patch = server.requests
        assert patch.method == "PATCH"
        assert patch.path == f"{COLLECTION}/{create.json['metadata']['name']}"
        assert patch.json == {"series": {"count": 2, "lastObservedTime": "2020-09-13T12:26:40.250000Z"}}


@pytest.mark.parametrize("other", [pod(version="8"), pod("q")], ids=["another version", "another pod"])
async def test_another_version_of_the_object_is_another_event(other):
    async with recorder() as (server, it, _):
        server.writes.extend([answer(201, b"{}"), answer(201, b"{}")])
        failed(it)
        failed(it, other)
        await written(it)
        assert [r.method for r in server.requests] == ["POST", "POST"]


async def test_a_series_whose_event_has_expired_is_created_anew():
    async with recorder() as (server, it, _):
        server.writes.extend([answer(201, b"{}"), answer(404, status(404, "NotFound")), answer(201, b"{}")])
        failed(it)
        await written(it)
        failed(it)
        await written(it)
        assert [r.method for r in server.requests] == ["POST", "PATCH", "POST"]
        assert server.requests[2].json["series"]["count"] == 2


async def test_a_series_ends_with_its_final_count_and_a_single_event_is_forgotten():
    async with recorder() as (server, it, clock):
        server.writes.extend([answer(201, b"{}"), answer(201, b"{}"), answer(200, b"{}"), answer(200, b"{}")])
        failed(it)
        failed(it, pod("q"))
        await written(it)
        for _ in range(4):
            failed(it)
        await written(it)
        clock.wall_now += 361
        it._finish()
        await written(it)
        assert server.requests[-1].json["series"]["count"] == 5
        assert it._known == {}


async def test_a_running_series_is_kept_from_expiring():
    async with recorder() as (server, it, _):
        server.writes.extend([answer(201, b"{}"), answer(200, b"{}"), answer(200, b"{}")])
        failed(it)
        await written(it)
        failed(it)
        failed(it)
        await written(it)
        it._refresh()
        await written(it)
        assert server.requests[-1].json["series"]["count"] == 3


async def test_a_server_that_is_away_is_tried_twelve_times():
    async with recorder() as (server, it, clock):
        server.writes.extend([drop] * 20)
        failed(it)
        await written(it)
        assert len(server.requests) == 12
        assert all(10 <= seconds <= 12.5 for seconds in clock.slept if seconds > 0)


async def test_an_event_that_is_refused_is_not_repeated():
    async with recorder() as (server, it, _):
        server.writes.append(answer(403, status(403, "Forbidden", "no")))
        failed(it)
        await written(it)
        assert len(server.requests) == 1


async def test_when_too_many_wait_new_ones_are_dropped_and_nobody_is_held_up(monkeypatch):
    monkeypatch.setattr(events, "_QUEUED", 3)
    async with recorder(start=False) as (_, it, _):
        for index in range(5):
            failed(it, pod(f"p{index}"))
        assert it.dropped == 2


async def test_flushing_waits_for_what_was_recorded_but_not_for_ever():
    async with recorder() as (server, it, _):
        server.writes.append(answer(201, b"{}"))
        failed(it)
        await it.flush(1)
    async with recorder(start=False) as (_, it, _):
        failed(it)
        await it.flush(1)


@pytest.mark.parametrize("name", ["UPPER", "x" * 250], ids=["no DNS name", "too long with its suffix"])
async def test_a_name_that_cannot_carry_the_time_is_replaced(name):
    async with recorder() as (server, it, _):
        server.writes.append(answer(201, b"{}"))
        failed(it, pod(name))
        await written(it)
        assert len(server.requests[0].json["metadata"]["name"]) == 36


@pytest.mark.parametrize(
    ("note", "expected"),
    [("x" * 1024, "x" * 1024), ("x" * 1025, "x" * 1020 + " ..."), ("ü" * 600, "ü" * 510 + " ...")],
    ids=["fits", "cut", "cut between characters"],
)
def test_a_note_has_at_most_1024_bytes(note, expected):
    assert truncate(note) == expected
    assert len(truncate(note).encode()) <= 1024
