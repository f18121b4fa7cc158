"""A watch tells every change once and in order, whatever the server does in between."""

from __future__ import annotations

import asyncio

from history_server import PODS, ScriptedServer, pod

from schedlab.api import ApiError, Object, Resource
from schedlab.history.watch import Watch

GONE = ApiError("WATCH", 410, "Expired", "too old resource version")


class Told:
    """What a watch told."""

    def __init__(self) -> None:
        self.changes: list[str] = []
        self.gaps: list[tuple[int, int]] = []
        self.version = 0

    def changed(self, resource: Resource, change: str, item: Object) -> None:
        assert item["kind"] == "Pod"
        self.changes.append(f"{change} {item['metadata']['name']} {item['metadata']['resourceVersion']}")

    def reached(self, resource: Resource, version: int) -> None:
        self.version = version

    def lost(self, resource: Resource, after: int, until: int, reason: str) -> None:
        self.gaps.append((after, until))


async def follow(server: ScriptedServer, *, waits: list[float] | None = None) -> Told:
    """List, then watch until the script is at its end."""
    told = Told()
    watch = Watch(server, PODS, told)  # type: ignore[arg-type]
    await watch.list()

    async def wait(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    task = asyncio.create_task(watch.follow(wait))
    await asyncio.wait_for(server.silent.wait(), 5)
    task.cancel()
    return told


async def test_it_resumes_where_the_server_ended_it() -> None:
    """From the last version seen, bookmarks included, so nothing is missed and nothing is listed again."""
    server = ScriptedServer()
    server.lists = [(10, [pod("a", 5)])]
    server.watches = [
        [{"type": "MODIFIED", "object": pod("a", 11)}],
        [{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "20"}}}],
        [{"type": "ADDED", "object": pod("b", 21)}, {"type": "DELETED", "object": pod("a", 22)}],
    ]
    told = await follow(server)
    assert told.changes == ["ADDED a 5", "MODIFIED a 11", "ADDED b 21", "DELETED a 22"]
    assert [asked.rsplit(" ", 1)[1] for asked in server.asked if "WATCH" in asked] == ["10", "11", "20", "22"]
    assert told.version == 22
    assert told.gaps == []


async def test_a_forgotten_version_is_listed_anew_and_leaves_a_gap() -> None:
    """The differences are told as changes, and it is said that more may have happened."""
    server = ScriptedServer()
    server.lists = [
        (10, [pod("a", 5), pod("b", 6), pod("c", 7)]),
        (30, [pod("a", 5), pod("b", 25), pod("d", 26)]),
    ]
    server.watches = [GONE]
    told = await follow(server)
    assert told.changes[3:] == ["DELETED c 30", "MODIFIED b 25", "ADDED d 26"]
    assert told.gaps == [(10, 30)]
    assert told.version == 30


async def test_a_410_inside_the_stream_is_the_same() -> None:
    """Servers say it either way."""
    server = ScriptedServer()
    server.lists = [(10, []), (30, [pod("a", 20)])]
    server.watches = [[{"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "old"}}]]
    told = await follow(server)
    assert told.changes == ["ADDED a 20"]
    assert told.gaps == [(10, 30)]


async def test_a_broken_connection_is_resumed_after_a_pause_that_grows() -> None:
    """And shrinks again once the server answers."""
    server = ScriptedServer()
    broken = ApiError("WATCH", 0, "", "no answer")
    server.lists = [(10, [])]
    server.watches = [broken, broken, [{"type": "ADDED", "object": pod("a", 11)}], broken]
    waits: list[float] = []
    told = await follow(server, waits=waits)
    assert told.changes == ["ADDED a 11"]
    assert waits[0] < waits[1] > waits[2]
    assert told.gaps == []
