"""Waiting for time: backoff, and the flush of pods that no event woke.

Facts from upstream's scheduling_queue_test.go (1.36).
"""

from __future__ import annotations

from queue_world import HINTS, NODE_ADD, World, a_pod

from kubesched.queue import Place


def test_pods_back_off_1_2_4_8_10_seconds() -> None:
    """Each rejection doubles the wait, aligned down to whole seconds, released when the second is over."""
    world = World(HINTS, start=100.25)
    entry = world.add_and_pop(pod := a_pod("pod"))
    for seconds in (1, 2, 4, 8, 10, 10):
        world.queue.move_all(NODE_ADD)
        began = world.clock.now()
        assert world.reject(entry, "Queue") is Place.BACKOFF
        assert entry.backoff_expiration == int(began + seconds)
        release = world.queue.next_deadline()
        assert release == int(began + seconds) + 1
        world.queue.flush(release - 0.01)
        assert world.where(pod) is Place.BACKOFF
        world.clock.advance(release - began)
        world.queue.flush(world.clock.now())
        assert world.where(pod) is Place.ACTIVE
        world.clock.advance(0.25)
        assert world.pop() is entry


def test_woken_pod_whose_backoff_is_over_becomes_active() -> None:
    """Time spent waiting for the event counts."""
    world = World(HINTS)
    world.rejected(pod := a_pod("pod"), "Queue")
    world.clock.advance(2)
    world.queue.move_all(NODE_ADD)
    assert world.where(pod) is Place.ACTIVE


def test_rejected_pod_in_backoff_is_popped_when_nothing_is_active() -> None:
    """SchedulerPopFromBackoffQ: an idle scheduler need not wait."""
    world = World(HINTS)
    world.rejected(pod := a_pod("pod"), "Queue")
    world.queue.move_all(NODE_ADD)
    assert world.where(pod) is Place.BACKOFF
    world.queue.add(a_pod("active"))
    assert world.names_popped() == ["active", "pod"]
    assert ("pod", Place.ACTIVE, "PopFromBackoffQ") in world.moves


def test_failed_pod_in_backoff_is_never_popped_early() -> None:
    """Error backoff protects the API server."""
    world = World()
    world.queue.add_unschedulable(world.add_and_pop(pod := a_pod("pod")), error=True)
    world.pop_nothing()
    assert world.queue.next_deadline() == 102.0
    world.clock.advance(2)
    assert world.pop().pod is pod


def test_without_the_gate_backoff_is_waited_out() -> None:
    """SchedulerPopFromBackoffQ off: the pod comes when its time has passed."""
    world = World(HINTS, pop_from_backoff=False, start=100.5)
    world.rejected(pod := a_pod("pod"), "Queue")
    world.queue.move_all(NODE_ADD)
    world.pop_nothing()
    world.clock.advance(world.queue.next_deadline() - 100.5)
    assert world.clock.now() == 102.0
    assert world.pop().pod is pod


def test_backoff_can_be_switched_off() -> None:
    """podMaxBackoffSeconds 0."""
    world = World(HINTS, initial_backoff=0, max_backoff=0)
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.add_unschedulable(entry, error=True)
    assert world.where(pod) is Place.ACTIVE


def test_pod_that_no_event_woke_is_flushed_after_five_minutes() -> None:
    """Looked for every 30 s; the flag tells that no event did it, until the pod has been tried again."""
    world = World(HINTS, start=10.0)
    entry = world.rejected(pod := a_pod("pod"), "Queue")
    world.clock.advance(300)
    world.queue.flush(world.clock.now())
    assert world.where(pod) is Place.UNSCHEDULABLE
    assert world.queue.next_deadline() == 340.0
    world.clock.advance(30)
    assert world.pop() is entry
    assert entry.was_flushed_from_unschedulable
    assert world.moves[-1] == ("pod", Place.ACTIVE, "UnschedulableTimeout")
    world.reject(entry, "Queue")
    assert not entry.was_flushed_from_unschedulable


def test_flush_takes_high_priorities_first() -> None:
    """Both are active afterwards, so QueueSort decides."""
    world = World()
    world.rejected(a_pod("mid", 5), "Any")
    world.rejected(a_pod("high", 9), "Any")
    world.clock.advance(331)
    assert world.names_popped() == ["high", "mid"]


def test_flush_wakes_pods_in_flight_too() -> None:
    """Upstream's timeout is an event like others: a pod in flight at that moment comes back to backoff."""
    world = World()
    world.rejected(a_pod("old"), "Any")
    world.clock.advance(299)
    flying = world.add_and_pop(a_pod("flying"))
    world.clock.advance(31)
    world.queue.flush(world.clock.now())
    assert world.reject(flying, "Any") is Place.BACKOFF


def test_missed_flushes_are_not_made_up_one_by_one() -> None:
    """After a long pause the next look is at the next multiple of 30 s."""
    world = World(start=0.0)
    world.rejected(a_pod("pod"), "Any")
    world.clock.advance(100)
    world.queue.flush(world.clock.now())
    assert world.queue.next_deadline() == 120.0


def test_nothing_waiting_has_no_deadline() -> None:
    """The loop sleeps until something arrives."""
    world = World()
    assert world.queue.next_deadline() is None
    world.add_and_pop(a_pod("pod"))
    assert world.queue.next_deadline() is None
