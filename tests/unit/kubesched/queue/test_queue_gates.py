"""PreEnqueue: what gates a pod, what lets it go, and how often the plugins are asked."""

from __future__ import annotations

import pytest
from queue_world import NODE_ADD, PROFILE, PV_ADD, Gate, World, a_pod, queue_hint, relabelled, skip_hint

from kubesched.queue import Place
from kubesched.state.events import UNSCHEDULABLE_TIMEOUT, ActionType, ClusterEvent, Resource

LABELLED = ClusterEvent(Resource.Pod, ActionType.UpdatePodLabel)


@pytest.mark.parametrize(
    ("gates", "place"),
    [
        pytest.param([], Place.ACTIVE, id="no PreEnqueue plugin"),
        pytest.param([Gate("A", {"app"}), Gate("B", {"app"})], Place.ACTIVE, id="all let it pass"),
        pytest.param([Gate("A", {"app"}), Gate("B")], Place.GATED, id="one does not"),
        pytest.param([Gate("A", fails=True)], Place.GATED, id="an Error gates as well"),
    ],
)
def test_new_pod_passes_every_plugin_or_is_gated(gates: list[Gate], place: Place) -> None:
    """A gated pod is not popped and counts no attempt."""
    world = World(gates=gates)
    world.queue.add(pod := a_pod("pod", app="x"))
    assert world.where(pod) is place
    assert (world.queue.pop(world.clock.now()) is None) is (place is Place.GATED)


def test_a_plugin_that_raises_gates_its_pod_and_no_other(caplog) -> None:
    """Neither the pod nor those that the same event wakes are lost for a plugin's bug."""

    class Raising:
        name = "Raising"

        def pre_enqueue(self, pod):
            if "app" in pod.labels:
                raise KeyError("bug")

    world = World({NODE_ADD: [("Fit", queue_hint)]}, gates=[Raising()])
    world.queue.add(bad := a_pod("bad", app="x"))
    assert world.where(bad) is Place.GATED
    assert "Unexpected error running PreEnqueue plugin" in caplog.text
    turning, good = a_pod("turning"), a_pod("good")
    for pod in (turning, good):
        world.rejected(pod, "Fit")
    world.queue.update(turning, turning := relabelled(turning, app="x"))
    world.clock.advance(2)
    world.queue.move_all(NODE_ADD)
    assert (world.where(turning), world.where(good)) == (Place.GATED, Place.ACTIVE)


def test_first_plugin_that_refuses_is_the_gating_one_and_ends_the_asking() -> None:
    """It counts as a rejector, for the unschedulable_pods metric and for events."""
    gates = [Gate("A", {"app"}), Gate("B"), Gate("C")]
    world = World(gates=gates)
    world.queue.add(pod := a_pod("pod", app="x"))
    entry = world.queue.get(pod.uid)
    assert (entry.gating_plugin, entry.rejectors) == ("B", {"B"})
    assert [gate.asked for gate in gates] == [1, 1, 0]
    assert world.queue.rejections() == {(PROFILE, "B"): 1}


def test_gating_plugin_is_asked_first() -> None:
    """It most likely still refuses, so the others need not be asked."""
    gates = [Gate("A", {"app"}), Gate("B")]
    world = World({LABELLED: [("B", queue_hint)]}, gates=gates)
    world.queue.add(pod := a_pod("pod", app="x"))
    world.queue.update(pod, newer := relabelled(pod, tier="y"))
    assert [gate.asked for gate in gates] == [1, 2]
    gates[1].open_for.add("tier")
    world.queue.update(newer, relabelled(newer, more="z"))
    assert [gate.asked for gate in gates] == [2, 3]
    assert world.where(pod) is Place.ACTIVE


def test_a_gate_that_stays_closed_is_no_move() -> None:
    """queue_incoming_pods_total does not count a pod that stayed where it was."""
    world = World({LABELLED: [("Gate", queue_hint)]}, gates=[Gate("Gate")])
    world.queue.add(pod := a_pod("pod", app="x"))
    world.queue.update(pod, relabelled(pod, tier="y"))
    assert world.moves == [("pod", Place.GATED, "UnschedulablePodAdd")]


def test_gates_may_change_hands() -> None:
    """A pod let go by one plugin and held by the next stays gated, under the new plugin."""
    gates = [Gate("A"), Gate("B")]
    world = World({LABELLED: [("A", queue_hint), ("B", queue_hint)]}, gates=gates)
    world.queue.add(pod := a_pod("pod", app="x"))
    gates[0].open_for.add("app")
    world.queue.update(pod, newer := relabelled(pod, tier="y"))
    entry = world.queue.get(pod.uid)
    assert (world.where(pod), entry.gating_plugin, entry.rejectors) == (Place.GATED, "B", {"A", "B"})
    gates[1].open_for.add("tier")
    world.queue.update(newer, relabelled(newer, more="z"))
    assert world.where(pod) is Place.ACTIVE
    assert not entry.is_gated


@pytest.mark.parametrize(
    ("hints", "asked"),
    [
        pytest.param({PV_ADD: [("Gate", queue_hint)]}, 1, id="an event its gating plugin did not register"),
        pytest.param(
            {NODE_ADD: [("Other", queue_hint)]}, 1, id="an event that only another plugin registered"
        ),
        pytest.param({NODE_ADD: [("Gate", skip_hint)]}, 1, id="an event its gating plugin's hint refuses"),
        pytest.param({NODE_ADD: [("Gate", queue_hint)]}, 2, id="an event its gating plugin wants"),
    ],
)
def test_only_the_gating_plugins_events_ungate(hints, asked: int) -> None:
    """Upstream 1.36: other events do not even call a hint function."""
    gate = Gate("Gate")
    world = World(hints, gates=[gate])
    world.queue.add(pod := a_pod("pod", app="x"))
    world.queue.move_all(NODE_ADD)
    assert gate.asked == asked
    assert world.where(pod) is Place.GATED
    gate.open_for.add("app")
    world.queue.move_all(NODE_ADD)
    assert world.where(pod) is (Place.ACTIVE if asked == 2 else Place.GATED)


def test_a_rejectors_event_does_not_ungate_a_pod_that_was_gated_afterwards() -> None:
    """The pod was short of CPU, then a gate closed: a new node concerns Fit, but the gate has the say."""
    gate, asked = Gate("Gate", {"app"}), []

    def fit(_pod, _event):
        asked.append("Fit")
        return queue_hint(_pod, _event)

    world = World({NODE_ADD: [("Fit", fit)], PV_ADD: [("Gate", queue_hint)]}, gates=[gate])
    world.rejected(pod := a_pod("pod", app="x"), "Fit")
    gate.open_for.clear()
    world.queue.move_all(NODE_ADD)
    assert (world.where(pod), asked) == (Place.GATED, ["Fit"])
    world.queue.move_all(NODE_ADD)
    assert (world.where(pod), asked) == (Place.GATED, ["Fit"])
    gate.open_for.add("app")
    world.queue.move_all(PV_ADD)
    assert world.where(pod) is Place.BACKOFF


def test_a_gated_pod_is_not_flushed() -> None:
    """However long it waits, and it is not taken for one that no event woke."""
    gate = Gate("Gate")
    world = World({LABELLED: [("Gate", queue_hint)]}, gates=[gate])
    world.queue.add(pod := a_pod("pod", app="x"))
    gate.open_for.add("app")
    world.clock.advance(1000)
    world.pop_nothing()
    assert world.where(pod) is Place.GATED
    world.queue.move_all(UNSCHEDULABLE_TIMEOUT)
    assert world.where(pod) is Place.GATED
    world.queue.update(pod, relabelled(pod, tier="y"))
    assert not world.pop().was_flushed_from_unschedulable


def test_gate_is_asked_on_the_way_into_backoff_and_not_again_on_the_way_out() -> None:
    """A pod in backoff may be popped at any moment, so it must be free to go."""
    gate = Gate("Gate", {"app"})
    world = World(gates=[gate])
    world.queue.add_unschedulable(world.add_and_pop(pod := a_pod("pod", app="x")), error=True)
    assert (world.where(pod), gate.asked) == (Place.BACKOFF, 2)
    gate.open_for.clear()
    world.clock.advance(2)
    assert world.pop().pod is pod
    assert gate.asked == 2


def test_gate_may_close_before_backoff() -> None:
    """Then the pod is gated, not backing off."""
    gate = Gate("Gate", {"app"})
    world = World(gates=[gate])
    entry = world.add_and_pop(pod := a_pod("pod", app="x"))
    gate.open_for.clear()
    assert world.queue.add_unschedulable(entry, error=True) is Place.GATED
    assert world.where(pod) is Place.GATED


def test_without_pop_from_backoff_the_gate_is_asked_on_the_way_out() -> None:
    """The pod cannot leave backoff otherwise, so nobody need ask before."""
    gate = Gate("Gate", {"app"})
    world = World(gates=[gate], pop_from_backoff=False)
    world.queue.add_unschedulable(world.add_and_pop(pod := a_pod("pod", app="x")), error=True)
    assert (world.where(pod), gate.asked) == (Place.BACKOFF, 1)
    gate.open_for.clear()
    world.clock.advance(2)
    world.pop_nothing()
    assert world.where(pod) is Place.GATED


@pytest.mark.parametrize("pop_from_backoff", [True, False])
def test_activation_does_not_open_a_gate(pop_from_backoff: bool) -> None:
    """From unschedulable PreEnqueue is asked; from backoff only if it was not asked on the way there."""
    gate = Gate("Gate", {"app"})
    world = World({NODE_ADD: [("Fit", queue_hint)]}, gates=[gate], pop_from_backoff=pop_from_backoff)
    world.rejected(in_backoff := a_pod("backoff", app="x"), "Fit")
    world.queue.move_all(NODE_ADD)
    world.queue.add(blocker := a_pod("blocker", app="x"))
    world.rejected(waiting := a_pod("waiting", 1, app="x"), "Other")
    gate.open_for.clear()
    world.queue.activate([in_backoff, waiting])
    assert world.where(waiting) is Place.GATED
    assert world.where(in_backoff) is (Place.ACTIVE if pop_from_backoff else Place.GATED)
    assert world.where(blocker) is Place.ACTIVE


def test_initial_attempt_is_counted_from_the_first_activation() -> None:
    """Time behind a gate is the user's, not the scheduler's."""
    gate = Gate("Gate")
    world = World({LABELLED: [("Gate", queue_hint)]}, gates=[gate], start=5.0)
    world.queue.add(pod := a_pod("pod"))
    assert world.queue.get(pod.uid).initial_attempt_timestamp is None
    world.clock.advance(10)
    gate.open_for.add("app")
    world.queue.update(pod, relabelled(pod, app="x"))
    entry = world.pop()
    assert entry.initial_attempt_timestamp == 15.0
    world.queue.add_unschedulable(entry, error=True)
    world.clock.advance(10)
    assert world.pop().initial_attempt_timestamp == 15.0


def test_broken_gate_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A pod is not held for a plugin's failure in silence."""
    World(gates=[Gate("Gate", fails=True)]).queue.add(a_pod("pod"))
    (record,) = caplog.records
    assert record.kv == {"pod": "ns/pod", "plugin": "Gate", "err": "broken"}
