"""Events: upstream's form, series, bounds."""

from __future__ import annotations

import asyncio
import json
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
from kubesched.clock import VirtualClock

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


class Noted:
    """A client that takes everything and notes when, by the clock's seconds."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.calls: list[tuple[float, str, int]] = []

    async def post(self, path, lane, body):
        self._note("create", body)

    async def patch(self, path, lane, body):
        self._note("patch", body)

    def _note(self, how, body):
        count = json.loads(body).get("series", {}).get("count", 1)
        self.calls.append((self.clock.now() - self.began, how, count))


@asynccontextmanager
async def recording():
    """A recorder on virtual time, and what lets that time pass."""
    clock = VirtualClock()
    client = Noted(clock)
    client.began = clock.now()
    it = EventRecorder(client, None, clock, Random(1), hostname="host")
    task = asyncio.create_task(it.run())

    async def after(seconds: float) -> None:
        for _ in range(30):
            await asyncio.sleep(0)  # noqa: TID251 - lets tasks run
        clock.advance(seconds)
        for _ in range(30):
            await asyncio.sleep(0)  # noqa: TID251 - lets tasks run

    try:
        yield it, client, after
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_series_ends_six_minutes_after_its_last_event_at_the_next_look():
    """Looks come every six minutes, so the final count is written between six and twelve minutes later."""
    async with recording() as (it, client, after):
        await after(0)
        failed(it)
        for _ in range(4):
            await after(30)
            failed(it)
        await after(240)
        assert client.calls == [(0, "create", 1), (30, "patch", 2)]
        await after(360)
        assert client.calls[2:] == [(720, "patch", 5)]
        failed(it)
        await after(0)
        assert client.calls[-1] == (720, "create", 1), "what comes later is another event"


async def test_an_event_that_happened_once_is_forgotten_without_another_write():
    async with recording() as (it, client, after):
        await after(0)
        failed(it)
        await after(361)
        await after(360)
        failed(it)
        await after(0)
        assert [(how, count) for _, how, count in client.calls] == [("create", 1), ("create", 1)]


async def test_a_series_that_goes_on_is_written_every_half_hour():
    """Its event would expire after an hour."""
    async with recording() as (it, client, after):
        await after(0)
        for _ in range(18):
            failed(it)
            await after(120)
        assert client.calls == [(0, "create", 1), (120, "patch", 2), (1800, "patch", 15)]


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
