"""The buffer between many tasks and one loop."""

from __future__ import annotations

import asyncio

from kubesched.client.intake import Intake
from kubesched.clock import VirtualClock


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)  # noqa: TID251 - lets other tasks run


async def test_items_come_out_in_order_once():
    intake = Intake(VirtualClock())
    intake.put(1)
    intake.put(2)
    assert len(intake) == 2
    assert intake.drain() == [1, 2]
    assert intake.drain() == []


async def test_a_wait_ends_at_once_if_something_is_there():
    intake = Intake(VirtualClock())
    intake.put(1)
    await intake.wait(None)


async def test_a_wait_ends_when_something_arrives():
    intake = Intake(VirtualClock())
    waiting = asyncio.create_task(intake.wait(None))
    await turns()
    assert not waiting.done()
    intake.put(1)
    await waiting


async def test_a_wait_ends_at_its_deadline():
    clock = VirtualClock(10)
    waiting = asyncio.create_task(Intake(clock).wait(12))
    await turns()
    clock.advance(1)
    await turns()
    assert not waiting.done()
    clock.advance(1)
    await waiting


async def test_a_wait_can_be_ended_from_outside():
    intake = Intake(VirtualClock())
    waiting = asyncio.create_task(intake.wait(None))
    await turns()
    intake.wake()
    await waiting
