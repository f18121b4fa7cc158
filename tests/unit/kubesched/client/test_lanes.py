"""Rates and bounds of lanes, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from kubesched.client.errors import UnreachableError
from kubesched.client.lanes import Lane, Lanes, NotLeadingError, TokenBucket
from kubesched.clock import VirtualClock


def test_a_bucket_lets_a_burst_through_and_then_its_rate():
    clock = VirtualClock()
    bucket = TokenBucket(clock, qps=10, burst=3)
    assert [bucket.reserve() for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.2])
    clock.advance(10)
    assert [bucket.reserve() for _ in range(4)] == pytest.approx([0, 0, 0, 0.1]), (
        "it never holds more than a burst"
    )


def test_a_negative_rate_is_no_limit():
    bucket = TokenBucket(VirtualClock(), qps=-1, burst=1)
    assert [bucket.reserve() for _ in range(1000)] == [0.0] * 1000


async def test_a_bucket_makes_callers_wait_by_the_clock():
    clock = VirtualClock()
    bucket = TokenBucket(clock, qps=1, burst=1)
    await bucket.take()
    second = asyncio.create_task(bucket.take())
    await asyncio.sleep(0)  # noqa: TID251 - lets the task begin
    assert not second.done()
    clock.advance(1)
    await second


async def test_a_lane_bounds_what_is_in_flight():
    lane = Lane("x", TokenBucket(VirtualClock(), -1, 1), in_flight=2, timeout=1)
    held = [lane.slot() for _ in range(3)]
    await held[0].__aenter__()
    await held[1].__aenter__()
    third = asyncio.create_task(held[2].__aenter__())
    await asyncio.sleep(0)  # noqa: TID251 - lets the task begin
    assert not third.done()
    await held[0].__aexit__(None, None, None)
    await third


async def test_lanes_do_not_share_tokens():
    """A flood of status patches leaves bindings their full burst (kubernetes/kubernetes#135900)."""
    clock = VirtualClock()
    lanes = Lanes(clock, qps=1, burst=1, lease_timeout=5)
    async with lanes.status.slot():
        pass
    waiting = asyncio.create_task(lanes.status.slot().__aenter__())
    await asyncio.sleep(0)  # noqa: TID251 - lets the task begin
    async with lanes.bind.slot(), lanes.event.slot(), lanes.lease.slot():
        assert not waiting.done()
    waiting.cancel()


async def test_a_write_is_not_sent_once_another_may_lead():
    """The question is asked after the wait for a turn, so a process that was stopped cannot write late."""
    lanes = Lanes(VirtualClock(), qps=-1, burst=1, lease_timeout=5)
    leading = True
    lanes.guard(lambda: leading)
    async with lanes.bind.slot(), lanes.status.slot():
        leading = False
    for lane in (lanes.bind, lanes.status):
        with pytest.raises(NotLeadingError) as refused:
            await lane.slot().__aenter__()
        assert isinstance(refused.value, UnreachableError)
        assert not refused.value.sent
    async with lanes.event.slot(), lanes.lease.slot(), lanes.read.slot():
        pass
