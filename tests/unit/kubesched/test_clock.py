"""Clocks: the virtual one moves only when told to, and wakes sleepers in order."""

from __future__ import annotations

import asyncio

import pytest

from kubesched.clock import Clock, SystemClock, VirtualClock


async def settle() -> None:
    """Let every task that can run do so."""
    for _ in range(5):
        await asyncio.get_running_loop().run_in_executor(None, lambda: None)


def test_virtual_clock_stands_still() -> None:
    """Both times move together, by `advance` alone."""
    clock = VirtualClock(5.0, epoch=1000.0)
    assert (clock.now(), clock.wall()) == (5.0, 1005.0)
    clock.advance(2.5)
    assert (clock.now(), clock.wall()) == (7.5, 1007.5)


def test_virtual_clock_does_not_go_back() -> None:
    """A negative step is a mistake."""
    with pytest.raises(ValueError, match="does not go back: -1"):
        VirtualClock().advance(-1)


async def test_sleepers_wake_in_the_order_of_their_deadlines() -> None:
    """Equal deadlines wake in the order of falling asleep; a later one sleeps on."""
    clock = VirtualClock()
    woken: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    tasks = [
        asyncio.create_task(sleeper(*case)) for case in [("c", 3), ("a", 1), ("b", 2), ("b2", 2), ("z", 9)]
    ]
    await settle()
    assert clock.next_deadline() == 1.0
    clock.advance(3)
    await settle()
    assert woken == ["a", "b", "b2", "c"]
    assert clock.next_deadline() == 9.0
    clock.advance(6)
    await asyncio.gather(*tasks)
    assert woken[-1] == "z"
    assert clock.next_deadline() is None


async def test_a_cancelled_sleeper_is_forgotten() -> None:
    """It neither wakes nor counts as the next deadline."""
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep(1))
    await settle()
    task.cancel()
    await settle()
    assert clock.next_deadline() is None
    clock.advance(2)
    assert task.cancelled()


async def test_no_time_is_only_a_turn_for_others() -> None:
    """Sleeping zero or less returns without an advance."""
    clock = VirtualClock()
    await asyncio.wait_for(clock.sleep(0), timeout=5)
    await asyncio.wait_for(clock.sleep(-1), timeout=5)


async def test_system_clock_is_a_clock() -> None:
    """It moves by itself, and sleeps."""
    clock: Clock = SystemClock()
    before = clock.now()
    await clock.sleep(0.001)
    assert clock.now() > before
    assert clock.wall() > 1_600_000_000
