"""The recorder keeps one history per test, and lets writers read their own writes."""

from __future__ import annotations

import asyncio

from history_server import PODS, ScriptedServer, pod

from schedlab.api import ApiError, Resource
from schedlab.history.entries import Revision
from schedlab.history.recorder import Recorder

LEASES = Resource("coordination.k8s.io/v1", "Lease", "leases", namespaced=True)


async def recorder_of(server: ScriptedServer) -> Recorder:
    server.lists = [(10, [pod("a", 5)])]
    recorder = Recorder(server)  # type: ignore[arg-type]
    await recorder.start([("v1", "Pod")])
    return recorder


async def test_a_new_history_starts_from_what_exists() -> None:
    """As initial revisions: nobody has just added them."""
    recorder = await recorder_of(ScriptedServer())
    history = recorder.begin()
    assert [(r.type, r.ref.name, r.initial) for r in history] == [("ADDED", "a", True)]
    recorder.changed(PODS, "ADDED", {"apiVersion": "v1", "kind": "Pod", **pod("b", 11)})
    assert [r.ref.name for r in history] == ["a", "b"]
    assert [r.ref.name for r in recorder.begin()] == ["a", "b"]
    assert len(history) == 2
    await recorder.stop()


async def test_a_writer_waits_until_its_write_is_in_the_history() -> None:
    """By version, per kind; a later version will do."""
    recorder = await recorder_of(ScriptedServer())
    await recorder.caught_up(PODS, 10)
    waiting = asyncio.create_task(recorder.caught_up(PODS, 12))
    await asyncio.sleep(0)  # noqa: TID251 - gives the task its first turn
    recorder.reached(PODS, 11)
    await asyncio.sleep(0)  # noqa: TID251 - as above
    assert not waiting.done()
    recorder.reached(PODS, 13)
    await waiting
    await recorder.stop()


async def test_a_kind_is_watched_from_its_first_mention() -> None:
    """Once; nobody waits for a kind that is not watched."""
    server = ScriptedServer()
    recorder = await recorder_of(server)
    await recorder.caught_up(LEASES, 99)
    server.lists = [(20, [])]
    await recorder.include(LEASES)
    await recorder.include(LEASES)
    assert [asked for asked in server.asked if asked.endswith("leases")] == [
        "GET /apis/coordination.k8s.io/v1/leases"
    ]
    await recorder.stop()


async def test_node_heartbeats_are_left_out() -> None:
    """They would be most of the record and say nothing."""
    recorder = await recorder_of(ScriptedServer())
    lease = {"apiVersion": LEASES.api_version, "kind": "Lease"}
    recorder.changed(
        LEASES, "MODIFIED", {**lease, "metadata": {"name": "n1", "namespace": "kube-node-lease"}}
    )
    assert recorder.history.current.list(LEASES.key) == []
    recorder.changed(LEASES, "MODIFIED", {**lease, "metadata": {"name": "s", "namespace": "kube-system"}})
    assert len(recorder.history.current.list(LEASES.key)) == 1
    await recorder.stop()


async def test_a_gap_is_recorded() -> None:
    """With its kind and its bounds."""
    recorder = await recorder_of(ScriptedServer())
    recorder.lost(PODS, 10, 30, "too old")
    assert [(gap.kind, gap.after, gap.until) for gap in recorder.history.gaps] == [("Pod", 10, 30)]
    await recorder.stop()


async def test_a_watch_that_died_is_noticed() -> None:
    """A record that stopped growing would make every wait end in a wrong verdict."""
    server = ScriptedServer()
    recorder = await recorder_of(server)
    assert recorder.failed() is None
    server.lists = [(1, [])]
    server.watches = [[{"type": "ADDED", "object": "no object"}]]
    await recorder.include(LEASES)
    for _ in range(10):
        await asyncio.sleep(0)  # noqa: TID251 - gives the watch its turns
    assert not isinstance(recorder.failed(), ApiError | None)
    await recorder.stop()


def test_revisions_know_their_object() -> None:
    """Kind, reference, version."""
    from datetime import UTC, datetime

    item = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", **pod("a", 7)}
    revision = Revision(at=datetime.now(UTC), type="ADDED", object=item)
    assert (revision.kind, revision.uid, revision.version) == ("PodDisruptionBudget.policy", "uid-a", 7)
    assert str(revision.ref) == "PodDisruptionBudget ns/a"
