"""Status patches in the background."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

from kubesched.api.objects import ObjectMeta, Pod
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.podstatus import unscheduled
from kubesched.client.statuses import StatusPatches


def pod(name: str) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="n", uid=f"uid-{name}"))


class Writer:
    """Notes what is written, and holds each write until it is let go."""

    def __init__(self, error: Exception | None = None) -> None:
        self.written = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.error = error

    async def patch_status(self, pod, condition, nominated=None):
        self.written.append((pod.name, condition and condition.message, nominated))
        await self.gate.wait()
        if self.error:
            raise self.error


@asynccontextmanager
async def running(writer: Writer):
    patches = StatusPatches(writer)
    task = asyncio.create_task(patches.run())
    try:
        yield patches
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)  # noqa: TID251 - lets the workers run


async def test_patches_are_written_side_by_side():
    writer = Writer()
    writer.gate.clear()
    async with running(writer) as patches:
        for name in "abc":
            patches.submit(pod(name), unscheduled("Unschedulable", name))
        await turns()
        assert len(writer.written) == 3
        writer.gate.set()
        await patches.idle()


async def test_one_pods_patches_are_in_order_and_merged():
    """What the last call leaves open is still decided by the one before."""
    writer = Writer()
    writer.gate.clear()
    async with running(writer) as patches:
        patches.submit(pod("a"), unscheduled("Unschedulable", "1"))
        await turns()
        patches.submit(pod("a"), unscheduled("Unschedulable", "2"), "node")
        patches.submit(pod("a"), unscheduled("Unschedulable", "3"))
        patches.submit(pod("a"), None, None)
        await turns()
        assert writer.written == [("a", "1", None)], "the second waits for the first"
        writer.gate.set()
        await patches.idle()
        assert writer.written == [("a", "1", None), ("a", "3", "node")]


async def test_a_patch_that_fails_does_not_stop_the_others(caplog):
    for error in (
        ApiError(404, "NotFound", "gone"),
        ApiError(500, "X", "y"),
        UnreachableError("z", sent=True),
    ):
        writer = Writer(error)
        async with running(writer) as patches:
            for name in "ab":
                patches.submit(pod(name), unscheduled("Unschedulable", name))
            await patches.idle()
            assert len(writer.written) == 2
    assert sum(record.levelname == "ERROR" for record in caplog.records) == 4


async def test_nothing_to_write_is_idle():
    async with running(Writer()) as patches:
        await patches.idle()
