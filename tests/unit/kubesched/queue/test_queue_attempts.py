"""New pods and failed attempts: from active to in flight and back.

Facts from upstream's scheduling_queue_test.go (1.36).
"""

from __future__ import annotations

import pytest
from queue_world import HINTS, NODE_ADD, PV_ADD, World, a_pod, queue_hint, relabelled

from kubesched.queue import Place
from kubesched.state.events import UNSCHEDULABLE_TIMEOUT


def test_pods_are_popped_by_priority_then_age() -> None:
    """The profile's QueueSort decides, and the first come is the first served."""
    world = World()
    for pod in (a_pod("old", 1), a_pod("low", 0), a_pod("high", 9), a_pod("young", 1)):
        world.queue.add(pod)
        world.clock.advance(0.1)
    assert world.names_popped() == ["high", "old", "young", "low"]


def test_pods_of_the_same_moment_are_popped_in_order_of_arrival() -> None:
    """Equal timestamps are no licence for any order."""
    world = World()
    for number in range(20):
        world.queue.add(a_pod(f"p{number}"))
    assert world.names_popped() == [f"p{number}" for number in range(20)]


def test_popped_pod_is_in_flight_with_one_more_attempt() -> None:
    """And the time of its first activation is kept for the latency metric."""
    world = World(start=7.0)
    entry = world.add_and_pop(pod := a_pod("pod"))
    assert (entry.attempts, entry.initial_attempt_timestamp) == (1, 7.0)
    assert world.where(pod) is Place.IN_FLIGHT
    assert world.queue.get(pod.uid) is entry
    world.queue.done(pod.uid)
    assert world.where(pod) is None
    assert world.queue.get(pod.uid) is None


def test_a_pod_added_twice_is_there_once() -> None:
    """A list after a watch brings known pods again, with their newest version."""
    world = World()
    world.queue.add(a_pod("pod"))
    newer = relabelled(a_pod("pod"), app="x")
    world.queue.add(newer)
    assert world.pop().pod is newer
    world.queue.add(a_pod("pod"))
    world.pop_nothing()


def test_a_closed_queue_gives_no_pods() -> None:
    """Shutting down: nothing is popped, nothing is kept for attempts."""
    world = World()
    world.add_and_pop(a_pod("flying"))
    world.queue.add(a_pod("pod"))
    world.queue.close()
    world.pop_nothing()
    assert world.queue.pending().in_flight == ()


def test_rejected_pod_waits_for_an_event() -> None:
    """Nothing happened meanwhile, so there is no sense in another attempt."""
    world = World(HINTS)
    world.rejected(pod := a_pod("pod"), "Queue")
    assert world.where(pod) is Place.UNSCHEDULABLE
    world.pop_nothing()


def test_failed_pod_waits_for_time() -> None:
    """An error is nobody's rejection: no event will wake the pod, so it backs off."""
    world = World()
    entry = world.add_and_pop(pod := a_pod("pod"))
    assert world.queue.add_unschedulable(entry, error=True) is Place.BACKOFF
    assert (entry.consecutive_errors, entry.unschedulable_count) == (1, 0)
    assert world.where(pod) is Place.BACKOFF


def test_rejection_ends_a_row_of_errors() -> None:
    """The error backoff starts afresh after an attempt that got an answer."""
    world = World(HINTS)
    entry = world.add_and_pop(a_pod("pod"))
    world.queue.add_unschedulable(entry, error=True)
    world.clock.advance(10)
    world.reject(world.pop(), "Queue")
    assert (entry.consecutive_errors, entry.unschedulable_count) == (0, 1)


def test_popped_pod_still_shows_who_rejected_it_before() -> None:
    """Logs of a pod that was scheduled after a flush name the plugins that had rejected it."""
    world = World(HINTS)
    world.rejected(a_pod("pod"), "Queue", pending=["Wait"])
    world.queue.move_all(NODE_ADD)
    entry = world.pop()
    assert (entry.unschedulable_plugins, entry.pending_plugins) == ({"Queue"}, {"Wait"})


def test_returning_pod_that_is_queued_already_stays_where_it_is() -> None:
    """A pod given up with `done` and added again must not be there twice when the old attempt returns."""
    world = World()
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.done(pod.uid)
    world.queue.add(pod)
    assert world.queue.add_unschedulable(entry, error=True) is Place.ACTIVE
    assert world.names_popped() == ["pod"]


@pytest.mark.parametrize(
    ("plugins", "pending", "place"),
    [
        pytest.param((), (), Place.BACKOFF, id="an error goes to backoff, whatever happened"),
        pytest.param(("Other",), (), Place.UNSCHEDULABLE, id="its rejector did not register the event"),
        pytest.param(("Skip",), (), Place.UNSCHEDULABLE, id="its rejector's hint says no"),
        pytest.param(("Skip", "Queue"), (), Place.BACKOFF, id="one of its rejectors' hints says yes"),
        pytest.param(("Skip",), ("Queue",), Place.ACTIVE, id="the plugin it is pending on says yes: at once"),
        pytest.param(("Queue",), ("Skip",), Place.BACKOFF, id="the plugin it is pending on says no"),
    ],
)
def test_event_during_the_attempt_is_weighed_on_return(plugins, pending, place: Place) -> None:
    """Upstream's Test_InFlightPods: the same answer as if the pod had been waiting."""
    world = World(HINTS)
    entry = world.add_and_pop(a_pod("pod"))
    world.queue.move_all(NODE_ADD)
    assert world.reject(entry, *plugins, pending=pending) is place


def test_a_later_event_may_give_the_stronger_answer() -> None:
    """The first wakes the pod after backoff, the second comes from the plugin it is pending on."""
    world = World({NODE_ADD: [("Fit", queue_hint)], PV_ADD: [("Permit", queue_hint)]})
    entry = world.add_and_pop(a_pod("pod"))
    world.queue.move_all(NODE_ADD)
    world.queue.move_all(PV_ADD)
    assert world.reject(entry, "Fit", pending=["Permit"]) is Place.ACTIVE


def test_event_before_the_attempt_does_not_count() -> None:
    """The attempt has seen its effect."""
    world = World(HINTS)
    world.queue.add(pod := a_pod("pod"))
    world.queue.move_all(UNSCHEDULABLE_TIMEOUT)
    world.queue.move_all(NODE_ADD)
    assert world.reject(world.pop(), "Queue") is Place.UNSCHEDULABLE
    assert world.where(pod) is Place.UNSCHEDULABLE


def test_each_attempt_sees_the_events_since_its_own_start() -> None:
    """Two pods in flight: the event between their pops concerns the first alone."""
    world = World(HINTS)
    first = world.add_and_pop(a_pod("first"))
    world.queue.move_all(NODE_ADD)
    second = world.add_and_pop(a_pod("second"))
    assert world.reject(second, "Queue") is Place.UNSCHEDULABLE
    assert world.reject(first, "Queue") is Place.BACKOFF


def test_pods_that_return_at_the_same_moment_are_tried_in_that_order() -> None:
    """Not in the order in which they first came."""
    world = World()
    entries = [world.add_and_pop(a_pod(name)) for name in ("first", "second", "third")]
    for entry in reversed(entries):
        world.reject(entry, "Any")
    world.queue.activate([entry.pod for entry in entries])
    assert world.names_popped() == ["third", "second", "first"]


def test_binding_failure_goes_to_backoff() -> None:
    """After Permit no events are kept: whatever the failure, time alone brings the pod back."""
    world = World(HINTS)
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.binding(pod.uid)
    world.queue.move_all(NODE_ADD)
    assert world.queue.pending().in_flight_events == 0
    assert world.where(pod) is Place.IN_FLIGHT
    assert world.reject(entry, "Skip") is Place.BACKOFF


def test_timestamp_is_refreshed_so_that_a_pod_tried_before_goes_behind() -> None:
    """A pod that fails again and again does not block a newer one of its priority."""
    world = World(HINTS)
    world.rejected(a_pod("tried", 5), "Queue")
    world.clock.advance(1)
    world.queue.add(a_pod("newer", 5))
    world.clock.advance(3)
    world.queue.move_all(NODE_ADD)
    tried = world.queue.get("uid-tried")
    assert world.where(tried.pod) is Place.ACTIVE
    assert world.names_popped() == ["tried", "newer"]
    for name in ("tried", "newer"):
        world.reject(world.queue.get(f"uid-{name}"), "Queue")
        world.clock.advance(1)
    world.clock.advance(3)
    world.queue.move_all(NODE_ADD)
    assert world.names_popped() == ["tried", "newer"]


def test_high_priority_pod_that_fails_lets_others_through() -> None:
    """It backs off, and the lower one is tried."""
    world = World(HINTS)
    world.queue.add(a_pod("mid", 5))
    world.queue.add(a_pod("high", 9))
    world.reject(world.pop(), "Queue")
    world.queue.move_all(NODE_ADD)
    assert world.where(a_pod("high")) is Place.BACKOFF
    assert world.pop().pod.name == "mid"
