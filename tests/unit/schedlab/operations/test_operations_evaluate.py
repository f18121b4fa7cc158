"""`within` and `holds`: every revision is judged by itself, and nobody waits longer than needed."""

from __future__ import annotations

import asyncio

import pytest
from operations_world import SCOPE, World

from schedlab import timing
from schedlab.history.history import History
from schedlab.operations.base import Met, NotYet, Outcome, Unmet
from schedlab.operations.evaluate import evaluate
from schedlab.operations.scheduled import Scheduled

BOUND = Scheduled(pod="a")
ON_N1 = Scheduled(pod="a", node="n1")


def on(operation: Scheduled) -> object:
    return lambda history: operation.check(history, SCOPE)


async def test_what_is_true_already_needs_no_waiting() -> None:
    """The first look comes before the first revision."""
    world = World()
    world.pod("a", "n1")
    assert isinstance(await evaluate(world.history, on(BOUND), within=60), Met)


async def test_a_revision_that_makes_it_true_ends_the_wait() -> None:
    """At once, with the revision, not with a timer."""
    world = World()
    task = asyncio.create_task(evaluate(world.history, on(BOUND), within=60))
    await asyncio.wait({task}, timeout=0.01)
    assert not task.done()
    world.pod("a", "n1")
    await asyncio.wait({task}, timeout=0.01)
    assert task.done()


async def test_time_runs_out() -> None:
    """The failure carries the last outcome."""
    world = World()
    with pytest.raises(Unmet) as failure:
        await evaluate(world.history, on(BOUND), within=0.01)
    assert failure.value.outcome.seen == "no such pod"
    assert not failure.value.broke


async def test_what_cannot_become_true_fails_at_once() -> None:
    """A bound pod does not move."""
    world = World()
    world.pod("a", "n2")
    started = timing.monotonic()
    with pytest.raises(Unmet):
        await evaluate(world.history, on(ON_N1), within=60)
    assert timing.monotonic() - started < 1


async def test_holds_is_met_after_its_time() -> None:
    """Revisions that do not matter do no harm."""
    world = World()
    world.pod("a", "n1")
    task = asyncio.create_task(evaluate(world.history, on(BOUND), within=1, holds=0.03))
    await asyncio.wait({task}, timeout=0.01)
    assert not task.done()
    world.pod("b")
    assert isinstance(await task, Met)


async def test_holds_breaks_on_a_state_that_lasts_for_one_revision() -> None:
    """Even though everything is as before when the waiter gets its turn."""
    world = World()
    world.pod("a", "n1")
    task = asyncio.create_task(evaluate(world.history, on(BOUND), within=1, holds=60))
    await asyncio.wait({task}, timeout=0.01)
    world.pod("a")
    world.pod("a", "n1")
    with pytest.raises(Unmet) as failure:
        await task
    assert failure.value.broke


async def test_an_assertion_that_raises_ends_the_wait() -> None:
    """A mistake in it is not a reason to wait."""

    def broken(_history: History) -> Outcome:
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        await evaluate(World().history, broken, within=60)


async def test_nothing_listens_afterwards() -> None:
    """Neither after success nor after failure."""
    world = World()
    calls = 0

    def counting(_history: History) -> Outcome:
        nonlocal calls
        calls += 1
        return NotYet("x", "y")

    with pytest.raises(Unmet):
        await evaluate(world.history, counting, within=0.01)
    before = calls
    world.pod("a")
    assert calls == before
