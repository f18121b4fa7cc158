"""Where each change goes: the state, the queue, the pods that wait."""

from __future__ import annotations

import pytest
from tests.unit.kubesched.live import Live

from kubesched.api.objects import Node, ObjectMeta
from kubesched.client.intake import Change
from kubesched.event_handlers import apply
from kubesched.queue.entry import Place
from kubesched.testing.builders import node, pod


@pytest.fixture
def core():
    return Live().core


def added(obj) -> Change:
    return Change("ADDED", obj)


def changed(old, new) -> Change:
    return Change("MODIFIED", new, old)


def deleted(old, last=None) -> Change:
    return Change("DELETED", last or old, old)


@pytest.fixture
def moves(core, monkeypatch):
    """The events that the waiting pods were shown, with the priority bound if there was one."""
    seen = []
    move_all = core.queue.move_all

    def noted(event, *, only=None):
        seen.append((event.title, only is not None))
        move_all(event, only=only)

    monkeypatch.setattr(core.queue, "move_all", noted)
    return seen


def test_an_unassigned_pod_of_ours_is_queued(core):
    apply(core, [added(pod("a"))])
    assert core.queue.where(pod("a").uid) is Place.ACTIVE


def test_an_unassigned_pod_of_others_is_ignored(core):
    apply(core, [added(pod("a").scheduler("other"))])
    assert core.queue.where(pod("a").uid) is None


def test_an_assigned_pod_is_put_on_its_node_whoever_scheduled_it(core, moves):
    apply(core, [added(pod("a").scheduler("other").on("n"))])
    assert pod("a").uid in core.cluster.pods.by_uid
    assert moves == [("AssignedPodAdd", False)]


def test_a_nomination_in_the_status_counts_from_the_start(core):
    apply(core, [added(pod("a").nominated_to("n"))])
    assert core.cluster.nominated.node_of(pod("a").uid) == "n"


def test_a_gated_pod_claims_its_nominated_place_only_once_it_is_active(core):
    """It may stay gated for ever; the update that lifts the gate brings the nomination along."""
    waiting = pod("a").nominated_to("n")
    apply(core, [added(waiting.gate("hold"))])
    assert core.cluster.nominated.node_of(waiting.uid) is None
    apply(core, [changed(waiting.gate("hold"), waiting.version("2"))])
    assert core.cluster.nominated.node_of(waiting.uid) == "n"


def test_a_nomination_that_ends_frees_its_place_for_pods_of_no_higher_priority(core, moves):
    before = pod("a").nominated_to("n").with_priority(5)
    apply(core, [added(before), changed(before, pod("a").with_priority(5).version("2"))])
    assert core.cluster.nominated.node_of(pod("a").uid) is None
    assert moves == [("AssignedPodDelete", True)]


def test_a_new_nomination_frees_nothing(core, moves):
    apply(core, [added(pod("a")), changed(pod("a"), pod("a").nominated_to("n").version("2"))])
    assert core.cluster.nominated.node_of(pod("a").uid) == "n"
    assert moves == []


def test_a_nominated_pod_that_is_deleted_frees_its_place(core, moves):
    waiting = pod("a").nominated_to("n")
    apply(core, [added(waiting), deleted(waiting)])
    assert core.cluster.nominated.node_of(waiting.uid) is None
    assert moves == [("AssignedPodDelete", True)]
    assert core.queue.where(waiting.uid) is None


def test_a_nomination_made_in_a_cycle_survives_an_update_that_does_not_know_it(core):
    apply(core, [added(pod("a"))])
    core.cluster.nominated.add(pod("a"), "n")
    apply(core, [changed(pod("a"), pod("a").label("x", "y").version("2"))])
    assert core.cluster.nominated.node_of(pod("a").uid) == "n"


def test_a_pod_that_gets_its_node_moves_from_the_queue_to_the_state(core, moves):
    apply(core, [added(pod("a")), changed(pod("a"), pod("a").on("n").version("2"))])
    assert core.queue.where(pod("a").uid) is None
    assert core.cluster.pods.by_uid[pod("a").uid].node_name == "n"
    assert moves == [("AssignedPodAdd", False)]


def test_an_assumed_pod_is_confirmed(core):
    apply(core, [added(node("n")), added(pod("a"))])
    core.cluster.assume(pod("a"), "n")
    apply(core, [changed(pod("a"), pod("a").on("n").version("2"))])
    assert not core.cluster.is_assumed(pod("a").uid)
    assert core.cluster.audit() == []


def test_an_assumed_pod_that_begins_to_terminate_gives_up_its_place(core, moves):
    apply(core, [added(node("n")), added(pod("a"))])
    core.cluster.assume(pod("a"), "n")
    moves.clear()
    apply(core, [changed(pod("a"), pod("a").terminating().version("2"))])
    assert not core.cluster.is_assumed(pod("a").uid)
    assert moves == [("AssignedPodDelete", False)]


def test_an_assumed_pod_that_changes_otherwise_keeps_its_place(core, moves):
    apply(core, [added(node("n")), added(pod("a"))])
    core.cluster.assume(pod("a"), "n")
    moves.clear()
    apply(core, [changed(pod("a"), pod("a").label("x", "y").version("2"))])
    assert core.cluster.is_assumed(pod("a").uid)
    assert moves == []


def test_a_late_update_of_a_pod_that_is_bound_already_does_not_queue_it(core):
    """The binding succeeded; the watch still tells of the time before."""
    apply(core, [added(node("n")), added(pod("a"))])
    core.queue.pop(core.clock.now())
    core.cluster.assume(pod("a"), "n")
    apply(core, [changed(pod("a"), labelled := pod("a").label("x", "y").version("2"))])
    assert core.queue.where(pod("a").uid) is Place.IN_FLIGHT
    core.queue.done(pod("a").uid)
    apply(core, [changed(labelled, pod("a").label("x", "z").version("3"))])
    assert core.queue.where(pod("a").uid) is None


def test_an_assumed_pod_that_waits_at_permit_is_rejected_there(core):
    """Its own binding cycle then gives up the place."""
    rejected = []
    framework = core.profiles["default-scheduler"]

    class Waiting:
        pod = pod("a")

        def reject(self, plugin, message):
            rejected.append((plugin, message))
            return True

    framework.waiting_pods.add(Waiting())
    apply(core, [added(node("n")), added(pod("a"))])
    core.cluster.assume(pod("a"), "n")
    apply(core, [deleted(pod("a"))])
    assert rejected == [("", "removed")]
    assert core.cluster.is_assumed(pod("a").uid)


def test_a_pod_that_ended_frees_its_node(core, moves):
    running = pod("a").on("n")
    apply(core, [added(running), changed(running, running.phase("Succeeded").version("2"))])
    assert core.cluster.pods.by_uid == {}
    assert moves[-1] == ("AssignedPodDelete", False)


def test_nodes_come_change_and_go(core, moves):
    first, second = node("n"), node("n").label("a", "b").version("2")
    apply(core, [added(first), changed(first, second), deleted(second)])
    assert len(core.cluster.nodes) == 0
    assert [title for title, _ in moves] == ["NodeAdd", "NodeUpdateNodeLabel", "NodeDelete"]


def test_one_bad_change_is_said_and_the_rest_goes_on(core, caplog, monkeypatch):
    apply_state = core.cluster.apply

    def broken(event):
        if event.object.name == "bad":
            raise RecursionError("too deep")
        return apply_state(event)

    monkeypatch.setattr(core.cluster, "apply", broken)
    apply(core, [added(Node(metadata=ObjectMeta(name="bad"))), added(node("n"))])
    assert len(core.cluster.nodes) == 1
    assert "Cannot take over a change" in caplog.text
