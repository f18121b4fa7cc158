"""Updates and deletions of a pod wherever it is, and pictures of the whole queue.

Facts from upstream's scheduling_queue_test.go (1.36).
"""

from __future__ import annotations

import pytest
from queue_world import (
    HINTS,
    NODE_ADD,
    PROFILE,
    PV_ADD,
    Gate,
    World,
    a_pod,
    queue_hint,
    relabelled,
    with_spec,
)

from kubesched.api.taints import Toleration
from kubesched.queue import Place
from kubesched.state.events import ActionType, ClusterEvent, Resource


def test_update_of_an_active_pod_keeps_it_active_and_in_order() -> None:
    """Its timestamp stays, its new priority counts."""
    world = World()
    for pod in (a_pod("a", 1), a_pod("b", 2), a_pod("c", 3)):
        world.queue.add(pod)
    world.queue.update(a_pod("a", 1), newer := a_pod("a", 9))
    assert world.pop().pod is newer
    assert world.names_popped() == ["c", "b"]


def test_update_of_a_pod_in_backoff_leaves_it_there() -> None:
    """In either kind of backoff."""
    world = World(HINTS)
    failed = world.add_and_pop(a_pod("failed"))
    world.queue.add_unschedulable(failed, error=True)
    world.rejected(a_pod("rejected"), "Queue")
    world.queue.move_all(NODE_ADD)
    for name in ("failed", "rejected"):
        newer = relabelled(a_pod(name), app="x")
        world.queue.update(a_pod(name), newer)
        assert world.where(newer) is Place.BACKOFF
        assert world.queue.get(newer.uid).pod is newer


@pytest.mark.parametrize(
    ("plugin", "waited", "place"),
    [
        pytest.param("Queue", 0, Place.BACKOFF, id="worth while, still backing off"),
        pytest.param("Queue", 2, Place.ACTIVE, id="worth while, backoff over"),
        pytest.param("Skip", 2, Place.UNSCHEDULABLE, id="not worth while"),
        pytest.param("Other", 2, Place.UNSCHEDULABLE, id="the rejector does not care for pod updates"),
    ],
)
def test_update_of_a_waiting_pod_is_shown_to_its_rejectors(plugin: str, waited: float, place: Place) -> None:
    """Whatever they say, the pod is the new one."""
    world = World(HINTS)
    world.rejected(pod := a_pod("pod"), plugin)
    world.clock.advance(waited)
    newer = relabelled(pod, app="x")
    world.queue.update(pod, newer)
    assert world.where(pod) is place
    assert world.queue.get(pod.uid).pod is newer


def test_update_that_changed_several_things_wakes_once() -> None:
    """The first change that is worth while moves the pod; the others are not asked about."""
    world = World(HINTS)
    world.rejected(pod := a_pod("pod"), "Queue")
    world.moves.clear()
    newer = with_spec(relabelled(pod, app="x"), tolerations=(Toleration(operator="Exists"),))
    world.queue.update(pod, newer)
    assert world.moves == [("pod", Place.BACKOFF, "UnschedulablePodUpdatePodLabel")]


def test_pod_that_is_there_after_all_comes_back() -> None:
    """Deleted and then added under the same uid while in flight: the last word counts."""
    world = World()
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.delete(pod)
    world.queue.add(pod)
    assert world.queue.add_unschedulable(entry, error=True) is Place.BACKOFF


def test_update_during_the_attempt_is_weighed_on_return() -> None:
    """k8s #125578: the pod comes back as the newest version, and to backoff."""
    world = World(HINTS)
    entry = world.add_and_pop(pod := a_pod("pod"))
    newer = relabelled(pod, app="x")
    world.queue.update(pod, newer)
    assert world.where(pod) is Place.IN_FLIGHT
    assert world.reject(entry, "Queue") is Place.BACKOFF
    assert entry.pod is newer


def test_update_during_the_binding_is_not_lost() -> None:
    """A pod whose binding fails is tried again as it is now."""
    world = World(HINTS)
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.binding(pod.uid)
    newer = relabelled(pod, app="x")
    world.queue.update(pod, newer)
    assert world.queue.add_unschedulable(entry, error=True) is Place.BACKOFF
    assert entry.pod is newer


@pytest.mark.parametrize("place", [Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED, None])
def test_deleted_pod_is_nowhere(place: Place | None) -> None:
    """From wherever it was, also from nowhere."""
    gates = [Gate("Gate")] if place is Place.GATED else []
    world, pod = World(HINTS, gates), a_pod("pod")
    if place in (Place.ACTIVE, Place.GATED):
        world.queue.add(pod)
    elif place is not None:
        world.rejected(pod, "Queue")
        if place is Place.BACKOFF:
            world.queue.move_all(NODE_ADD)
    assert world.where(pod) is place
    world.queue.delete(pod)
    assert world.where(pod) is None
    assert world.queue.next_deadline() is None
    world.pop_nothing()


def test_pending_shows_every_place() -> None:
    """For dumps; the summary is upstream's line."""
    world = World(HINTS, gates=[Gate("Gate", {"open"})])
    world.rejected(a_pod("waiting", open="yes"), "Skip")
    world.queue.add_unschedulable(world.add_and_pop(a_pod("failed", open="yes")), error=True)
    world.add_and_pop(a_pod("flying", open="yes"))
    world.queue.add(a_pod("gated"))
    world.queue.add(a_pod("active", open="yes"))
    world.queue.move_all(NODE_ADD)
    pending = world.queue.pending()
    assert [
        [pod.name for pod in place]
        for place in (
            pending.active,
            pending.backoff,
            pending.unschedulable,
            pending.gated,
            pending.in_flight,
        )
    ] == [["active"], ["failed"], ["waiting"], ["gated"], ["flying"]]
    assert pending.in_flight_events == 1
    assert pending.summary == "activeQ:1; backoffQ:1; unschedulablePods:2"


def test_k8s_135981_rejections_are_counted_from_what_waits() -> None:
    """The metric cannot leak: it is taken from the queue as it is, not counted up and down."""
    world = World(HINTS)
    world.rejected(a_pod("a"), "Fit", "Spread")
    world.rejected(a_pod("b"), "Fit", pending=["Permit"])
    assert world.queue.rejections() == {
        (PROFILE, "Fit"): 2,
        (PROFILE, "Spread"): 1,
        (PROFILE, "Permit"): 1,
    }
    world.queue.delete(a_pod("a"))
    world.queue.activate([a_pod("b")])
    assert world.queue.rejections() == {(PROFILE, "Fit"): 1, (PROFILE, "Permit"): 1}
    world.pop()
    assert world.queue.rejections() == {}


def test_moves_are_reported_with_place_and_event() -> None:
    """What queue_incoming_pods_total counts, under upstream's labels."""
    world = World(HINTS)
    entry = world.rejected(a_pod("pod"), "Queue")
    world.queue.move_all(NODE_ADD)
    world.clock.advance(2)
    assert world.pop() is entry
    world.queue.update(a_pod("late"), a_pod("late"))
    assert world.moves == [
        ("pod", Place.ACTIVE, "UnschedulablePodAdd"),
        ("pod", Place.UNSCHEDULABLE, "ScheduleAttemptFailure"),
        ("pod", Place.BACKOFF, "NodeAdd"),
        ("pod", Place.ACTIVE, "BackoffComplete"),
        ("late", Place.ACTIVE, "UnschedulablePodUpdate"),
    ]


def test_wildcard_registration_hears_of_everything() -> None:
    """A plugin that registers any resource and any action is asked about all events."""
    world = World({ClusterEvent(Resource.WildCard, ActionType.All): [("Any", queue_hint)]})
    world.rejected(pod := a_pod("pod"), "Any")
    world.clock.advance(2)
    world.queue.move_all(PV_ADD)
    assert world.where(pod) is Place.ACTIVE
