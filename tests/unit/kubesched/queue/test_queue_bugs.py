"""Real bugs of the reference's queue, by their numbers in kubernetes/kubernetes: none may come back."""

from __future__ import annotations

from queue_world import NODE_ADD, Gate, World, a_pod, queue_hint, relabelled, with_spec

from kubesched.api.taints import Toleration
from kubesched.framework import Hint
from kubesched.queue import Place
from kubesched.state.events import ASSIGNED_POD_DELETE, ActionType, ClusterEvent, Resource

WAKES = {NODE_ADD: [("Fit", queue_hint)], ASSIGNED_POD_DELETE: [("Fit", queue_hint)]}


def test_k8s_72122_event_during_attempt_is_not_lost() -> None:
    """The node that would hold the pod appears between the failed attempt and the pod's return."""
    world = World(WAKES)
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.move_all(NODE_ADD)
    world.reject(entry, "Fit")
    assert world.where(pod) is Place.BACKOFF
    assert world.pop() is entry


def test_k8s_73309_move_reaches_every_pod_in_flight() -> None:
    """One flag for "something moved" served the first pod to return and cheated the others."""
    world = World(WAKES)
    entries = [world.add_and_pop(a_pod(f"p{number}")) for number in range(5)]
    world.queue.move_all(ASSIGNED_POD_DELETE)
    later = world.add_and_pop(a_pod("later"))
    assert [world.reject(entry, "Fit") for entry in reversed(entries)] == [Place.BACKOFF] * 5
    assert world.reject(later, "Fit") is Place.UNSCHEDULABLE


def test_k8s_73176_churn_does_not_let_a_pod_skip_its_backoff() -> None:
    """Events all the time: a hopeless pod must not be tried more often than its backoff allows."""
    world = World(WAKES)
    world.queue.add(a_pod("hopeless", 9))
    world.queue.add_unschedulable(world.pop(), error=True)  # waits apart: never popped early
    tried_at = []
    for _ in range(240):
        world.clock.advance(0.25)
        world.queue.move_all(NODE_ADD)
        while (entry := world.queue.pop(world.clock.now())) is not None:
            tried_at.append(world.clock.now())
            assert len(tried_at) < 100
            world.queue.move_all(NODE_ADD)
            world.queue.add_unschedulable(entry, error=True)
    assert tried_at == [102, 105, 110, 119, 130, 141, 152]


def test_k8s_73176_churn_does_not_starve_others() -> None:
    """A rejected pod of the highest priority that every event wakes leaves room for the lowest."""
    world = World(WAKES)
    world.rejected(a_pod("hopeless", 9), "Fit")
    world.queue.add(a_pod("modest", 0))
    world.queue.move_all(NODE_ADD)
    assert world.pop().pod.name == "modest"


def test_k8s_102790_update_of_an_unknown_pod_adds_it() -> None:
    """The add event was missed; the next update must not be dropped for that."""
    world = World()
    pod = a_pod("pod")
    world.queue.update(pod, newer := relabelled(pod, app="x"))
    assert world.where(newer) is Place.ACTIVE
    assert world.pop().pod is newer


def test_k8s_120334_error_after_rejection_is_not_parked() -> None:
    """Rejectors of an earlier attempt must not send a pod that met an error to wait for their events."""
    world = World({NODE_ADD: [("Fit", queue_hint)]})
    entry = world.rejected(pod := a_pod("pod"), "Fit", pending=["Permit"])
    world.clock.advance(5)
    world.queue.move_all(NODE_ADD)
    assert world.pop() is entry
    assert world.queue.add_unschedulable(entry, error=True) is Place.BACKOFF
    assert not entry.rejectors
    world.pop_nothing()
    world.clock.advance(2)
    assert world.pop().pod is pod


def test_k8s_120334_a_lifted_gate_is_no_rejector_after_an_error() -> None:
    """The plugin that gated the pod at first has nothing to do with today's error."""
    labelled = ClusterEvent(Resource.Pod, ActionType.UpdatePodLabel)
    gate = Gate("Gate")
    world = World({labelled: [("Gate", queue_hint)]}, gates=[gate])
    world.queue.add(pod := a_pod("pod"))
    gate.open_for.add("app")
    world.queue.update(pod, relabelled(pod, app="x"))
    entry = world.pop()
    assert entry.rejectors == {"Gate"}
    assert world.queue.add_unschedulable(entry, error=True) is Place.BACKOFF
    assert world.queue.rejections() == {}


def test_k8s_109437_node_that_becomes_ready_wakes_the_pod() -> None:
    """The node was tainted when it appeared; the update that makes it usable is what counts."""
    untainted = ClusterEvent(Resource.Node, ActionType.UpdateNodeTaint)
    world = World({NODE_ADD: [("Fit", _ready_only)], untainted: [("Fit", queue_hint)]})
    world.rejected(pod := a_pod("pod"), "Fit")
    world.clock.advance(2)
    world.queue.move_all(NODE_ADD)
    assert world.where(pod) is Place.UNSCHEDULABLE
    world.queue.move_all(untainted)
    assert world.where(pod) is Place.ACTIVE


def _ready_only(_pod, _event) -> Hint:
    return Hint.Skip


def test_k8s_127427_added_toleration_requeues_the_pod() -> None:
    """The plugin that rejected the pod for a taint hears of the pod's own change."""
    tolerated = ClusterEvent(Resource.Pod, ActionType.UpdatePodTolerations)
    world = World({tolerated: [("NodeUnschedulable", queue_hint)]})
    world.rejected(pod := a_pod("pod"), "NodeUnschedulable")
    world.clock.advance(2)
    world.queue.update(pod, relabelled(pod, app="x"))
    assert world.where(pod) is Place.UNSCHEDULABLE
    world.queue.update(pod, with_spec(pod, tolerations=(Toleration(operator="Exists"),)))
    assert world.where(pod) is Place.ACTIVE


def test_k8s_138316_pod_recreated_during_its_attempt_is_another_pod() -> None:
    """Same name, new uid: the old one does not come back, the new one is tried, nothing is kept."""
    world = World(WAKES)
    old = world.add_and_pop(a_pod("web-0", uid="old"))
    world.queue.delete(a_pod("web-0", uid="old"))
    world.queue.add(new := a_pod("web-0", uid="new"))
    world.queue.move_all(NODE_ADD)
    assert world.reject(old, "Fit") is None
    assert world.queue.where("old") is None
    assert world.pop().pod is new
    world.queue.done("new")
    assert world.queue.pending().in_flight_events == 0


def test_k8s_138316_recreation_seen_as_an_update() -> None:
    """A watch that was interrupted shows deletion and creation as one change."""
    world = World(WAKES)
    old = world.add_and_pop(a_pod("web-0", uid="old"))
    world.queue.update(a_pod("web-0", uid="old"), new := a_pod("web-0", uid="new"))
    assert world.queue.add_unschedulable(old, error=True) is None
    assert world.names_popped() == ["web-0"]
    assert world.queue.where(new.uid) is Place.IN_FLIGHT
    assert world.queue.where("old") is None


def test_k8s_126962_events_of_skipped_pods_are_let_go() -> None:
    """Every way out of an attempt ends its claim on events: 63,000 were once retained."""
    world = World(WAKES)
    for number in range(300):
        entry = world.add_and_pop(pod := a_pod(f"p{number}"))
        world.queue.move_all(NODE_ADD)
        match number % 5:
            case 0:
                world.queue.done(pod.uid)  # skipped: being deleted, or assumed already
            case 1:
                world.reject(entry, "Fit")
            case 2:
                world.queue.delete(pod)
                world.reject(entry, "Fit")
            case 3:
                world.queue.add_unschedulable(entry, error=True)
            case 4:
                world.queue.binding(pod.uid)
        assert world.queue.pending().in_flight_events == 0


def test_k8s_118226_a_pod_added_while_in_flight_is_not_tried_twice_at_once() -> None:
    """The duplicate would overwrite the attempt's mark in the log, which then never ends."""
    world = World(WAKES)
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.move_all(NODE_ADD)
    world.queue.add(pod)
    world.queue.update(pod, pod)
    world.pop_nothing()
    assert world.reject(entry, "Fit") is Place.BACKOFF
    assert world.queue.pending().in_flight_events == 0


def test_k8s_85447_pod_deleted_during_its_attempt_does_not_come_back() -> None:
    """A phantom in the queue would be nominated and block a node."""
    world = World(WAKES)
    for error in (False, True):
        entry = world.add_and_pop(pod := a_pod("pod"))
        world.queue.delete(pod)
        entry.unschedulable_plugins = {"Fit"}
        assert world.queue.add_unschedulable(entry, error=error) is None
        assert world.where(pod) is None
        assert world.queue.next_deadline() is None


def test_k8s_96579_pod_bound_by_a_request_that_timed_out_is_not_tried_again() -> None:
    """The watch shows it assigned before the error arrives: the handlers have deleted it from the queue."""
    world = World(WAKES)
    entry = world.add_and_pop(pod := a_pod("pod"))
    world.queue.binding(pod.uid)
    world.queue.delete(pod)
    assert world.queue.add_unschedulable(entry, error=True) is None
    world.pop_nothing()
