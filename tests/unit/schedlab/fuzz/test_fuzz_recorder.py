"""The recorder plays a plan in lock-step and writes down what was decided in which state."""

from __future__ import annotations

import pytest
from fake_cluster import FakeCluster, FakeTap

from schedlab.api.client import ApiError
from schedlab.decisions import corpus, logbook
from schedlab.decisions.decision import UNOBSERVED, Candidate, Preemption
from schedlab.decisions.logbook import Tail
from schedlab.errors import SchedlabError
from schedlab.fuzz.blueprint import node, pod
from schedlab.fuzz.plan import Plan
from schedlab.fuzz.recorder import Recorder

NODES = (node("n1", {}, {"cpu": "1"}), node("n2", {}, {"cpu": "1"}))


def placed(name, where):
    made = pod(name, "default", {})
    made["spec"]["nodeName"] = where
    return made


OLD = placed("old", "n1")


@pytest.fixture
def cluster(tmp_path):
    path = tmp_path / "log"
    path.touch()
    tail, tap = Tail(path, interval=0), FakeTap()
    with path.open("a") as log:

        def make(decide):
            world = FakeCluster(log, tap, decide)
            return world, Recorder(world, tail, tap, "fake v1")

        yield make
    tail.close()


def plan(*arrivals, objects=(*NODES, OLD), **more):
    return Plan(objects=objects, arrivals=arrivals, seed=3, features=("taints",), source="a test", **more)


async def test_each_decision_is_recorded_with_the_state_it_was_made_in(cluster):
    _, recorder = cluster({"a": ("bind", "n1"), "b": ("bind", "n2")}.get)
    case = await recorder.play(plan(pod("a", "default", {}), pod("b", "default", {})))
    assert (case.reference, case.seed, case.features, case.source) == ("fake v1", 3, ("taints",), "a test")
    first, second = corpus.unroll(case)
    assert [one["metadata"]["name"] for one in first.objects] == ["n1", "n2", "old"]
    assert [one["metadata"]["name"] for one in second.objects] == ["n1", "n2", "old", "a"]
    assert second.objects[-1]["spec"]["nodeName"] == "n1"
    assert (first.decision.node, first.decision.feasible, first.decision.totals) == ("n1", {"n1"}, {"n1": 7})
    assert "nodeName" not in first.pod["spec"]
    assert first.decision.event == "Successfully assigned default/a to n1"


async def test_pods_that_do_not_fit_go_while_the_next_one_comes(cluster):
    world, recorder = cluster({"a": ("refuse", "no fit"), "b": ("bind", "n2")}.get)
    case = await recorder.play(plan(pod("a", "default", {}), pod("b", "default", {})))
    first, second = corpus.unroll(case)
    assert (first.decision.result, first.decision.message) == ("Unschedulable", "no fit")
    assert [one["metadata"]["name"] for one in second.objects if one["spec"].get("nodeName")] == ["old"]
    assert sorted(world.writes[-2:]) == [("create", "b"), ("delete", "a")]


async def test_a_pod_whose_volumes_are_held_was_decided_and_nobody_saw_for_which_node(cluster):
    held = (
        "fail",
        """running PreBind plugin "VolumeBinding": binding volumes: x is forbidden: User "u" cannot""",
    )
    world, recorder = cluster({"a": held, "b": ("fail", "the disk is on fire")}.get)
    case = await recorder.play(plan(pod("a", "default", {}), pod("b", "default", {})))
    first, second = (step.decision for step in case.steps)
    assert (first.result, first.node, first.message) == ("Scheduled", UNOBSERVED, None)
    assert second.result == "Error"
    assert ("delete", "a") in world.writes


@pytest.mark.parametrize(("until_eviction", "decisions"), [(True, 1), (False, 2)])
async def test_a_case_whose_ports_collide_ends_with_the_first_preemption(cluster, until_eviction, decisions):
    _, recorder = cluster({"a": ("preempt", "n1", ["old"]), "b": ("bind", "n2")}.get)
    arrivals = (pod("a", "default", {}), pod("b", "default", {}))
    case = await recorder.play(plan(*arrivals, until_eviction=until_eviction))
    assert len(case.steps) == decisions


async def test_an_event_that_does_not_come_is_unobserved(cluster, monkeypatch):
    monkeypatch.setattr("schedlab.fuzz.recorder.EVENTS", 0.01)
    world, recorder = cluster({"a": ("bind", "n1")}.get)
    monkeypatch.setattr(world, "note", lambda uid: None)
    (question,) = corpus.unroll(await recorder.play(plan(pod("a", "default", {}))))
    assert question.decision.event is UNOBSERVED


async def test_gated_pods_are_not_waited_for(cluster):
    gated = pod("a", "default", {})
    gated["spec"]["schedulingGates"] = [{"name": "x/y"}]
    _, recorder = cluster({}.get)
    (question,) = corpus.unroll(await recorder.play(plan(gated)))
    assert question.decision.result == "Gated"
    assert question.decision.message == "Scheduling is blocked due to non-empty scheduling gates"


@pytest.mark.parametrize("keep", [True, False])
async def test_a_preemption_shows_candidates_deletions_and_the_nomination(cluster, keep):
    decide = {"a": ("preempt", "n1", ["old"]), "b": ("bind", "n2")}.get
    _, recorder = cluster(decide)
    case = await recorder.play(plan(pod("a", "default", {}), pod("b", "default", {}), keep_nominated=keep))
    first, second = corpus.unroll(case)
    assert first.decision.preemption == Preemption(
        candidates={"n1": Candidate(frozenset({"default/old"}), 0)},
        nominated="n1",
        deleted=frozenset({"default/old"}),
    )
    assert [one["metadata"]["name"] for one in second.objects] == (
        ["n1", "n2", "a"] if keep else ["n1", "n2"]
    )


async def test_pods_of_a_timed_plan_start_at_distinct_times(cluster):
    _, recorder = cluster({"a": ("bind", "n1"), "b": ("bind", "n2"), "c": ("bind", "n1")}.get)
    case = await recorder.play(plan(*(pod(name, "default", {}) for name in "abc"), timed=True))
    *_, last = corpus.unroll(case)
    starts = {one["metadata"]["name"]: one.get("status", {}).get("startTime") for one in last.objects}
    assert (starts["a"], starts["b"]) == ("2025-01-01T00:00:00Z", "2025-01-01T00:00:01Z")


async def test_the_world_is_cleared_even_if_the_api_refuses_an_arrival(cluster):
    world, recorder = cluster({}.get)
    with pytest.raises(ApiError, match="no such field"):
        await recorder.play(plan(pod("refused-by-the-api", "default", {})))
    assert world.is_empty
    assert world.nodes == []


async def test_names_can_be_used_again_in_the_next_case(cluster):
    answers = iter([("refuse", "no fit"), ("bind", "n1")])
    _, recorder = cluster(lambda name: next(answers))
    first = await recorder.play(plan(pod("a", "default", {})))
    second = await recorder.play(plan(pod("a", "default", {})))
    assert first.steps[0].decision.result == "Unschedulable"
    assert second.steps[0].decision.result == "Scheduled"


async def test_a_scheduler_that_does_not_decide_is_an_error(cluster, monkeypatch):
    _, recorder = cluster({}.get)
    until = Tail.until
    monkeypatch.setattr(Tail, "until", lambda self, met, what, **_: until(self, met, what, within=0.05))
    with pytest.raises(SchedlabError, match="the end of the attempt to schedule default/a"):
        await recorder.play(plan(pod("a", "default", {})))


async def test_pods_arrive_only_once_the_scheduler_knows_every_node(cluster):
    world, recorder = cluster({"a": ("bind", "n1")}.get)
    await recorder.play(plan(pod("a", "default", {})))
    book = recorder._tail.book
    assert all(book.deliveries[logbook.NODE_ADDED, name] == 1 for name in ("n1", "n2"))
    assert world.writes == [("create", name) for name in ("n1", "n2", "old", "a")]


async def test_a_course_puts_pods_where_the_leader_has_them(cluster):
    """What is decided counts, and the state of the next decision is the leader's."""
    _, leader = cluster({"a": ("bind", "n1"), "b": ("bind", "n1")}.get)
    course = (await leader.play(plan(pod("a", "default", {}), pod("b", "default", {})))).steps
    world, follower = cluster({"a": ("bind", "n2"), "b": ("bind", "n1")}.get)
    case = await follower.play(plan(pod("a", "default", {}), pod("b", "default", {})), course)
    assert [step.decision.node for step in case.steps] == ["n2", "n1"]
    second = list(corpus.unroll(case))[1]
    assert second.objects[-1]["spec"]["nodeName"] == "n1"
    assert world.writes.count(("create", "a")) == 2


async def test_a_course_takes_away_pods_that_the_leader_refused(cluster):
    _, leader = cluster({"a": ("refuse", "no fit"), "b": ("bind", "n1")}.get)
    course = (await leader.play(plan(pod("a", "default", {}), pod("b", "default", {})))).steps
    world, follower = cluster({"a": ("bind", "n2"), "b": ("bind", "n1")}.get)
    case = await follower.play(plan(pod("a", "default", {}), pod("b", "default", {})), course)
    assert [one["metadata"]["name"] for one in list(corpus.unroll(case))[1].objects] == ["n1", "n2", "old"]
    assert world.writes.count(("delete", "a")) == 1


async def test_a_course_ends_where_preemptions_part(cluster):
    """Nobody but a scheduler can promise a node."""
    _, leader = cluster({"a": ("preempt", "n1", ("old",)), "b": ("bind", "n1")}.get)
    course = (await leader.play(plan(pod("a", "default", {}), pod("b", "default", {})))).steps
    _, follower = cluster({"a": ("refuse", "no fit"), "b": ("bind", "n1")}.get)
    case = await follower.play(plan(pod("a", "default", {}), pod("b", "default", {})), course)
    assert [step.decision.result for step in case.steps] == ["Unschedulable"]
