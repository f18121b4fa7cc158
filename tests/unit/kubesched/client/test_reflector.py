"""The reflector against a server that misbehaves in every way that was seen in the wild."""

from __future__ import annotations

import asyncio
import gc
from contextlib import asynccontextmanager
from random import Random

import pytest
from tests.unit.kubesched.client.fake_server import (
    FakeServer,
    SkippingClock,
    answer,
    drop,
    line,
    listing,
    node,
    running,
    status,
    stream,
)

from kubesched.client.intake import Intake
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lanes
from kubesched.client.reflector import Reflector
from kubesched.client.resources import NODES, PODS, WATCHED
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken


class World:
    """A reflector of nodes on a fake server, and what it delivered."""

    def __init__(self, server: FakeServer, resource=NODES) -> None:
        self.server = server
        self.clock = SkippingClock()
        self.intake = Intake(self.clock)
        self.client = RestClient(Endpoint(server.url, StaticToken(None)), self.clock, user_agent="test")
        lane = Lanes(self.clock, qps=-1, burst=1, lease_timeout=5).read
        self.reflector = Reflector(
            resource, self.client, lane, self.intake.put, clock=self.clock, rng=Random(1)
        )

    async def until(self, enough) -> list[tuple[str, str, str]]:
        """Run until `enough(delivered)`; delivered are (type, name, version)."""
        seen = []
        task = asyncio.create_task(self.reflector.run())
        try:
            async with asyncio.timeout(5):
                while not enough(seen):
                    seen += [
                        (change.type, change.object.name, change.object.metadata.resource_version)
                        for change in self.intake.drain()
                    ]
                    await asyncio.sleep(0.001)  # noqa: TID251 - the fake server runs in real time
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return seen


@asynccontextmanager
async def world(resource=NODES):
    async with running() as server:
        it = World(server, resource)
        try:
            yield it
        finally:
            await it.client.close()


async def test_a_list_then_a_watch_from_its_version_are_delivered_in_order():
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "5"), node("b", "7")))
        it.server.watches.append(
            stream(line("MODIFIED", node("a", "11")), line("DELETED", node("b", "12")), end=False)
        )
        seen = await it.until(lambda seen: len(seen) == 4)
        assert seen == [
            ("ADDED", "a", "5"),
            ("ADDED", "b", "7"),
            ("MODIFIED", "a", "11"),
            ("DELETED", "b", "12"),
        ]
        assert it.server.watched[0].params["resourceVersion"] == "10"
        assert it.server.watched[0].params["allowWatchBookmarks"] == "true"
        assert 300 <= int(it.server.watched[0].params["timeoutSeconds"]) <= 600
        assert it.reflector.synced


async def test_pods_are_asked_for_without_those_that_ended():
    async with world(PODS) as it:
        it.server.lists.append(listing("10"))
        await it.until(lambda _: it.server.watched)
        for request in (it.server.listed[0], it.server.watched[0]):
            assert request.params["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"


async def test_a_watch_that_ends_is_resumed_from_the_last_version_bookmarks_included():
    async with world() as it:
        it.server.lists.append(listing("10"))
        it.server.watches.append(stream(line("ADDED", node("a", "11"))))
        it.server.watches.append(stream(line("BOOKMARK", {"metadata": {"resourceVersion": "40"}})))
        await it.until(lambda _: len(it.server.watched) == 3)
        assert [r.params["resourceVersion"] for r in it.server.watched] == ["10", "11", "40"]
        assert len(it.server.listed) == 1


@pytest.mark.parametrize(
    "gone",
    [
        answer(410, status(410, "Expired", "too old resource version: 10 (20)")),
        stream(line("ERROR", status(410, "Expired", "too old resource version"))),
        stream(line("ERROR", status(410, "Gone"))),
    ],
    ids=["410 in the answer", "410 in the stream", "Gone in the stream"],
)
async def test_an_expired_version_is_listed_again_and_what_vanished_is_deleted(gone):
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "5"), node("b", "7"), node("c", "8")))
        it.server.watches.append(gone)
        it.server.lists.append(listing("30", node("a", "5"), node("b", "25"), node("d", "26")))
        seen = await it.until(lambda seen: len(seen) == 6)
        assert seen[3:] == [("DELETED", "c", "8"), ("MODIFIED", "b", "25"), ("ADDED", "d", "26")]
        assert it.server.listed[1].params["resourceVersion"] == "10", "a relist must not go back in time"
        assert it.clock.slept == [], "an expired version is no reason to wait"


async def test_a_relist_that_is_refused_as_too_new_or_too_old_asks_the_quorum():
    async with world() as it:
        it.server.lists.append(listing("10"))
        it.server.watches.append(stream(line("ERROR", status(410, "Expired"))))
        it.server.lists.append(
            answer(504, status(504, "Timeout", "Too large resource version: 10, current: 3"))
        )
        it.server.lists.append(listing("4", node("a", "3")))
        await it.until(lambda seen: seen)
        assert [r.params["resourceVersion"] for r in it.server.listed] == ["0", "10", ""]


async def test_a_line_cut_in_a_character_and_a_torn_tail_lose_and_double_nothing():
    """Chunks end anywhere; what stands after the last newline of a broken stream comes again."""
    whole = line("ADDED", node("a", "11", zone="zürich")) + line("MODIFIED", node("a", "12", zone="köln"))
    cut = whole.index("ü".encode()) + 1
    torn = line("DELETED", node("a", "13"))[:30]
    async with world() as it:
        it.server.lists.append(listing("10"))
        it.server.watches.append(stream(whole[:cut], whole[cut:], torn, cut=True))
        it.server.watches.append(stream(line("DELETED", node("a", "13")), end=False))
        seen = await it.until(lambda seen: len(seen) == 3)
        assert seen == [("ADDED", "a", "11"), ("MODIFIED", "a", "12"), ("DELETED", "a", "13")]
        assert it.server.watched[1].params["resourceVersion"] == "12"
        assert len(it.server.listed) == 1


async def test_one_byte_at_a_time_is_the_same_stream():
    data = line("ADDED", node("a", "11")) + line("DELETED", node("a", "12"))
    async with world() as it:
        it.server.lists.append(listing("10"))
        it.server.watches.append(stream(*(data[i : i + 1] for i in range(len(data))), end=False))
        assert len(await it.until(lambda seen: len(seen) == 2)) == 2


async def test_replayed_and_outdated_events_are_not_delivered_again():
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "9")))
        replay = [line("ADDED", node("a", "9")), line("MODIFIED", node("a", "11"))]
        it.server.watches.append(
            stream(
                *replay, *replay, line("DELETED", node("x", "12")), line("ADDED", node("z", "13")), end=False
            )
        )
        seen = await it.until(lambda seen: ("ADDED", "z", "13") in seen)
        assert seen == [("ADDED", "a", "9"), ("MODIFIED", "a", "11"), ("ADDED", "z", "13")]


async def test_a_recreation_that_arrives_as_one_modification_is_a_deletion_and_an_addition():
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "9", uid="first")))
        it.server.watches.append(stream(line("MODIFIED", node("a", "11", uid="second")), end=False))
        seen = await it.until(lambda seen: len(seen) == 3)
        assert seen[1:] == [("DELETED", "a", "9"), ("ADDED", "a", "11")]


async def test_a_recreation_seen_by_a_relist_is_a_deletion_and_an_addition():
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "9", uid="first")))
        it.server.watches.append(stream(line("ERROR", status(410, "Expired"))))
        it.server.lists.append(listing("20", node("a", "15", uid="second")))
        seen = await it.until(lambda seen: len(seen) == 3)
        assert seen[1:] == [("DELETED", "a", "9"), ("ADDED", "a", "15")]


async def test_an_empty_watch_again_and_again_backs_off_and_then_lists():
    """A server that answers 200 with an empty body must not make it spin (kubernetes/kubernetes#104171)."""
    async with world() as it:
        it.server.lists.append(listing("10"))
        it.server.watches.extend([stream(), stream(), stream()])
        it.server.lists.append(listing("20"))
        await it.until(lambda _: len(it.server.listed) == 2)
        assert len(it.clock.slept) == 3
        assert it.clock.slept == sorted(it.clock.slept), "delays grow"


@pytest.mark.parametrize(
    "failure",
    [
        answer(500, status(500, "InternalError", "etcd")),
        answer(429, status(429, "TooManyRequests")),
        answer(503, b"upstream down"),
    ],
    ids=["500", "429", "503 without a Status"],
)
async def test_a_watch_that_is_refused_for_a_while_is_retried_without_listing(failure):
    async with world() as it:
        it.server.lists.append(listing("10"))
        it.server.watches.append(failure)
        it.server.watches.append(stream(line("ADDED", node("a", "11")), end=False))
        seen = await it.until(lambda seen: seen)
        assert seen == [("ADDED", "a", "11")]
        assert len(it.server.listed) == 1
        assert len(it.clock.slept) == 1


@pytest.mark.parametrize(
    "junk",
    [
        line("ERROR", status(500, "InternalError", "unable to decode")),
        b'{"type":"ADDED","object":\n',
        line("STRANGE", node("a", "11")),
    ],
    ids=["error frame", "broken JSON", "unknown type"],
)
async def test_a_stream_that_cannot_be_trusted_is_left_for_a_fresh_list_after_a_delay(junk):
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "9")))
        it.server.watches.append(stream(junk))
        it.server.lists.append(listing("20"))
        seen = await it.until(lambda seen: len(seen) == 2)
        assert seen[1] == ("DELETED", "a", "9")
        assert len(it.clock.slept) == 1


async def test_an_object_that_cannot_be_read_is_left_out_and_everything_else_goes_on():
    broken = {**node("bad", "12"), "spec": {"taints": "none"}}
    async with world() as it:
        it.server.lists.append(listing("10", {**broken, "metadata": {"name": "bad"}}, node("a", "9")))
        it.server.watches.append(stream(line("ADDED", broken), line("ADDED", node("b", "13")), end=False))
        seen = await it.until(lambda seen: len(seen) == 2)
        assert [name for _, name, _ in seen] == ["a", "b"]


async def test_an_object_that_turns_unreadable_stays_as_it_was_known():
    """Dropping an assigned pod would free what it holds."""
    broken = {**node("a", "15"), "spec": {"taints": "none"}}
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "9")))
        it.server.watches.append(stream(line("MODIFIED", broken), line("ERROR", status(410, "Expired"))))
        it.server.lists.append(listing("20", broken, node("b", "18")))
        seen = await it.until(lambda seen: len(seen) == 2)
        assert seen == [("ADDED", "a", "9"), ("ADDED", "b", "18")]


async def test_a_kind_that_is_not_served_counts_as_empty_and_is_said_once(caplog):
    claims = next(resource for resource in WATCHED if resource.kind == "ResourceClaim")
    async with world(claims) as it:
        missing = answer(404, b"404 page not found\n")
        claim = {"metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "9"}}
        it.server.lists.extend([missing, missing, listing("10", claim)])
        seen = await it.until(lambda seen: seen)
        assert seen == [("ADDED", "a", "9")]
        assert it.clock.slept == [300.0, 300.0]
        assert sum("not served" in record.message for record in caplog.records) == 1


async def test_a_core_kind_that_is_not_found_is_an_error_and_never_synced(caplog):
    """A wrong address must not look like an empty cluster."""
    async with world() as it:
        it.server.lists.extend([answer(404, b"404 page not found\n")] * 3)
        await it.until(lambda _: len(it.server.listed) >= 3)
        assert not it.reflector.synced
        assert any(record.levelname == "ERROR" for record in caplog.records)


async def test_a_kind_that_may_not_be_read_is_loud_and_retried(caplog):
    async with world() as it:
        it.server.lists.append(
            answer(403, status(403, "Forbidden", 'nodes is forbidden: User "x" cannot list'))
        )
        it.server.lists.append(listing("10", node("a", "9")))
        await it.until(lambda seen: seen)
        assert any(record.levelname == "ERROR" for record in caplog.records)


async def test_a_server_that_comes_back_is_found_without_losing_what_is_known():
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "9")))
        it.server.watches.extend([drop, drop, drop])
        it.server.watches.append(stream(line("DELETED", node("a", "12")), end=False))
        seen = await it.until(lambda seen: len(seen) == 2)
        assert seen == [("ADDED", "a", "9"), ("DELETED", "a", "12")]


async def test_the_collector_is_paused_for_the_list_and_running_after_it():
    async with world() as it:
        it.server.lists.append(listing("10", node("a", "9")))
        await it.until(lambda seen: seen)
        assert gc.isenabled()
