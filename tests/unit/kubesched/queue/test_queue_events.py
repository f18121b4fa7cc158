"""Events and activation: what wakes which waiting pod.

Facts from upstream's scheduling_queue_test.go (1.36).
"""

from __future__ import annotations

import pytest
from queue_world import HINTS, NODE_ADD, PROFILE, PV_ADD, World, a_pod, skip_hint

from kubesched.queue import Place
from kubesched.state.events import UNSCHEDULABLE_TIMEOUT


@pytest.mark.parametrize(
    ("plugins", "pending", "waited", "place"),
    [
        pytest.param((), ("Queue",), 0, Place.ACTIVE, id="pending on the plugin: active without backoff"),
        pytest.param(("Queue",), (), 0, Place.BACKOFF, id="rejected, backing off"),
        pytest.param(("Queue",), (), 2, Place.ACTIVE, id="rejected, backoff over"),
        pytest.param(("Skip",), (), 2, Place.UNSCHEDULABLE, id="the hint says no"),
        pytest.param(("Other",), (), 2, Place.UNSCHEDULABLE, id="the rejector did not register the event"),
    ],
)
def test_event_moves_waiting_pods(plugins, pending, waited: float, place: Place) -> None:
    """Upstream's MoveAllToActiveOrBackoffQueue with queueing hints."""
    world = World(HINTS)
    world.rejected(pod := a_pod("pod"), *plugins, pending=pending)
    world.clock.advance(waited)
    world.queue.move_all(NODE_ADD)
    assert world.where(pod) is place


def test_event_that_no_plugin_registered_looks_at_no_pod() -> None:
    """And is not kept for pods in flight."""
    world = World(HINTS)
    world.rejected(a_pod("waiting"), "Queue")
    world.add_and_pop(a_pod("flying"))

    def must_not_be_asked(_pod) -> bool:
        raise AssertionError

    world.queue.move_all(PV_ADD, only=must_not_be_asked)
    assert world.queue.pending().in_flight_events == 0


def test_event_visits_only_pods_whose_rejectors_registered_it() -> None:
    """10,000 pods short of CPU cost nothing when a volume appears."""
    asked = []

    def hint(pod, _event):
        asked.append(pod.name)
        return skip_hint(pod, _event)

    world = World({NODE_ADD: [("Fit", hint)], PV_ADD: [("Volumes", hint)]})
    for number in range(50):
        world.rejected(a_pod(f"fit{number}"), "Fit")
    world.rejected(a_pod("volume"), "Volumes")
    seen = []
    world.queue.move_all(PV_ADD, only=lambda pod: not seen.append(pod.name))
    assert seen == asked == ["volume"]


def test_only_narrows_the_pods_that_are_moved() -> None:
    """A lost nomination wakes pods of equal or lower priority."""
    world = World()
    for priority in range(5):
        world.rejected(a_pod(f"p{priority}", priority), "Any")
    world.queue.move_all(UNSCHEDULABLE_TIMEOUT, only=lambda pod: pod.priority <= 1)
    assert {pod.name for pod in world.queue.pending().backoff} == {"p0", "p1"}


def test_profiles_have_hints_of_their_own() -> None:
    """An event registered by one profile's plugin does not wake another profile's pod."""
    world = World(HINTS)
    world.queue._hints["other"] = world.queue._hints[PROFILE].__class__({})
    other = a_pod("other")
    other = other.__class__(metadata=other.metadata, spec=other.spec.__class__(scheduler_name="other"))
    world.rejected(other, "Queue")
    world.clock.advance(5)
    world.queue.move_all(NODE_ADD)
    assert world.where(other) is Place.UNSCHEDULABLE


def test_activate_makes_waiting_pods_active_at_once() -> None:
    """From unschedulable and from both kinds of backoff, whatever their backoff."""
    world = World(HINTS)
    world.queue.add_unschedulable(world.add_and_pop(a_pod("failed")), error=True)
    world.rejected(a_pod("rejected"), "Queue")
    world.queue.move_all(NODE_ADD)
    world.rejected(a_pod("waiting"), "Skip")
    world.queue.activate([a_pod("failed"), a_pod("rejected"), a_pod("waiting"), a_pod("unknown")])
    assert {pod.name for pod in world.queue.pending().active} == {"failed", "rejected", "waiting"}
    assert {event for _, place, event in world.moves[-3:] if place is Place.ACTIVE} == {"ForceActivate"}


def test_activate_leaves_an_active_pod_alone() -> None:
    """It keeps its place in the order."""
    world = World()
    world.queue.add(a_pod("first"))
    world.queue.add(a_pod("second"))
    world.queue.activate([a_pod("first")])
    assert world.names_popped() == ["first", "second"]


def test_activation_of_an_unknown_pod_is_not_kept() -> None:
    """It concerns nobody in flight."""
    world = World()
    world.add_and_pop(a_pod("flying"))
    world.queue.activate([a_pod("unknown")])
    assert world.queue.pending().in_flight_events == 0


def test_activated_in_flight_pod_is_tried_again_soon() -> None:
    """Asynchronous preemption may end before the preemptor is back; other pods in flight are not meant."""
    world = World()
    meant, other = world.add_and_pop(a_pod("meant")), world.add_and_pop(a_pod("other"))
    world.queue.activate([a_pod("meant")])
    assert world.reject(other, "Any") is Place.UNSCHEDULABLE
    assert world.reject(meant, "Any") is Place.BACKOFF
