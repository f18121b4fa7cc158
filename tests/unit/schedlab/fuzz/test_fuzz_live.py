"""A running scheduler is led through a recorded case and compared with it."""

from __future__ import annotations

import copy
import re

import pytest
from fake_cluster import FakeCluster, FakeTap

from schedlab.decisions.corpus import Case, Change, Step
from schedlab.decisions.decision import Candidate, Decision, Preemption
from schedlab.errors import SchedlabError
from schedlab.fuzz import drift, live
from schedlab.fuzz.blueprint import node, pod
from schedlab.fuzz.drift import Auditor
from schedlab.fuzz.live import Live

NODES = (node("n1", {}, {"cpu": "1"}), node("n2", {}, {"cpu": "1"}))


def named(name, **status):
    made = pod(name, "default", {})
    made["metadata"]["uid"] = f"uid-{name}"
    made["status"] = status
    return made


def bound(name, where, **status):
    made = named(name, **status)
    made["spec"]["nodeName"] = where
    return made


class Running:
    """A scheduler process that runs until told otherwise."""

    name, log, alive = "kubesched", "its.log", True


class LiveCluster(FakeCluster):
    """The fake cluster; probes are bound where they ask."""

    def _schedule(self, one):
        if one["metadata"]["name"].startswith("probe-"):
            (where,) = one["spec"]["nodeSelector"].values()
            one["spec"]["nodeName"] = where
            self._set("MODIFIED", one)
        else:
            super()._schedule(one)

    def staying(self):
        metas = [one["metadata"] for one in self.pods.values()]
        return {f"{meta['namespace']}/{meta['name']}" for meta in metas}


@pytest.fixture
def follow(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "_PATIENCE", 0.05)
    with (tmp_path / "log").open("a") as log:

        async def run(decide, *steps, objects=NODES, auditor=None):
            world = LiveCluster(log, FakeTap(), decide)
            follower = Live(world, Running(), auditor)
            found = await follower.follow(Case("kube-scheduler", objects, steps))
            world.followed = follower.followed
            assert world.is_empty
            return world, [difference.path for _, differing in found for difference in differing]

        yield run


def scheduled(name, where, *ties, after=()):
    totals = dict.fromkeys((where, *ties), 7) | {"worse": 1}
    decision = Decision(f"default/{name}", "Scheduled", message=None, totals=totals, node=where)
    return Step(named(name), decision, after)


async def test_bindings_in_the_legal_set_are_no_difference(follow):
    world, found = await follow(
        {"a": ("bind", "n1"), "b": ("bind", "n2")}.get, scheduled("a", "n1"), scheduled("b", "n2")
    )
    assert found == []
    assert world.followed == 2


async def test_another_node_of_the_same_rank_is_steered_back(follow):
    world, found = await follow(
        {"a": ("bind", "n2"), "b": ("bind", "n2")}.get, scheduled("a", "n1", "n2"), scheduled("b", "n2")
    )
    assert found == []
    assert [write[:2] for write in world.writes if write[1] == "a"] == [
        ("create", "a"),
        ("delete", "a"),
        ("create", "a"),
    ]


async def test_a_pod_whose_volumes_are_held_was_decided_alike_and_goes(follow):
    """Neither scheduler can bind it, and which node it was meant for nobody has seen."""
    held = """running PreBind plugin "VolumeBinding": binding volumes: x is forbidden: User "u" cannot"""
    decision = Decision("default/a", "Scheduled", message=None, totals={"n1": 7, "n2": 7})
    world, found = await follow(
        {"a": ("fail", held), "b": ("bind", "n2")}.get, Step(named("a"), decision), scheduled("b", "n2")
    )
    assert found == []
    assert world.followed == 2
    assert [write[:2] for write in world.writes if write[1] == "a"] == [("create", "a"), ("delete", "a")]


async def test_a_node_that_is_not_legal_ends_the_case_as_a_difference(follow):
    world, found = await follow({"a": ("bind", "n2")}.get, scheduled("a", "n1"), scheduled("b", "n2"))
    assert found == ["node"]
    assert world.followed == 1


async def test_messages_are_compared(follow):
    refused = Step(named("a"), Decision("default/a", "Unschedulable", message="0/2 nodes"))
    _, found = await follow({"a": ("refuse", "no fit")}.get, refused)
    assert found == ["message"]


async def test_a_pod_that_is_never_decided_is_a_difference(follow):
    _, found = await follow({}.get, scheduled("a", "n1"))
    assert found == ["result"]


def preempting(nominated, **candidates):
    found = {where: Candidate(frozenset({victim})) for where, victim in candidates.items()}
    preemption = Preemption(candidates=found, nominated=nominated)
    return Step(named("a"), Decision("default/a", "Unschedulable", message="no fit", preemption=preemption))


OLD = (*NODES, bound("old", "n1"), bound("other", "n2"))


async def test_victims_must_go(follow):
    step = preempting("n1", n1="default/old")
    _, found = await follow({"a": ("preempt", "n1", ["old"])}.get, step, objects=OLD)
    assert found == []
    _, found = await follow({"a": ("preempt", "n1", [])}.get, step, objects=OLD)
    assert found == ["result"]


async def test_a_preemption_elsewhere_of_the_same_rank_ends_the_case(follow):
    step = preempting("n1", n1="default/old", n2="default/other")
    world, found = await follow(
        {"a": ("preempt", "n2", ["other"]), "b": ("bind", "n2")}.get, step, scheduled("b", "n2"), objects=OLD
    )
    assert (found, world.followed) == ([], 1)


async def test_start_times_follow_the_recorded_ones(follow):
    after = (Change("MODIFIED", bound("a", "n1", startTime="2025-01-01T00:00:00Z")),)
    world, _ = await follow({"a": ("bind", "n1")}.get, scheduled("a", "n1", after=after))
    assert ("patch", "a", {"status": {"startTime": "2025-01-01T00:00:00Z"}}) in world.writes


async def test_a_case_is_not_followed_beyond_a_pod_that_stays_nominated(follow):
    waiting = (*NODES, named("later", nominatedNodeName="n1"))
    world, found = await follow({}.get, scheduled("a", "n1"), objects=(*NODES, bound("x", "n1"), waiting[-1]))
    assert (found, world.followed) == ([], 0)


async def test_a_scheduler_that_ended_is_an_error(follow, monkeypatch):
    monkeypatch.setattr(Running, "alive", False)
    with pytest.raises(SchedlabError, match="kubesched ended while waiting"):
        await follow({}.get, scheduled("a", "n1"))


DONE = 'I1121 00:00:00.1   1 app.py:1] "Compared the state with its objects" drifts={}\n'
DRIFT = (
    'E1121 00:00:00.1   1 app.py:1] "The state has drifted from its objects" err="n1: requested 3, is 2"\n'
)


@pytest.fixture
def auditor(tmp_path):
    path = tmp_path / "audited.log"
    path.write_text(DRIFT)  # of an earlier signal: not to be read again
    said = []

    def send(number):
        with path.open("a") as file:
            file.write("".join(said))

    made = Auditor(path, send)
    made.said = said
    yield made
    made.close()


async def test_drift_is_what_the_scheduler_says_after_the_signal(auditor):
    auditor.said[:] = [DONE.format(0)]
    assert await auditor.drifts() == []
    auditor.said[:] = [DRIFT, DONE.format(1)]
    assert await auditor.drifts() == ["n1: requested 3, is 2"]


async def test_a_scheduler_that_does_not_answer_the_signal_is_an_error(auditor, monkeypatch):
    monkeypatch.setattr(drift, "_PATIENCE", 0.02)
    with pytest.raises(SchedlabError, match=re.escape("did not compare its state")):
        await auditor.drifts()


async def test_drift_after_a_decision_is_a_difference(follow, auditor):
    auditor.said[:] = [DRIFT, DONE.format(1)]
    _, found = await follow({"a": ("bind", "n1")}.get, scheduled("a", "n1"), auditor=auditor)
    assert found == ["state"]


def test_the_recorded_case_is_left_as_it_was():
    step = scheduled("a", "n1")
    before = copy.deepcopy(step)
    assert live.creatable(step.pod)["metadata"] == {"name": "a", "namespace": "default", "labels": {}}
    assert step == before


async def test_answers_go_on_after_a_difference_in_the_state_of_the_course(tmp_path):
    """Where decisions are compared elsewhere, one difference must not hide the next."""
    with (tmp_path / "log").open("a") as log:
        world = LiveCluster(log, FakeTap(), {"a": ("bind", "n2"), "b": ("refuse", "no fit")}.get)
        case = Case("kube-scheduler", NODES, (scheduled("a", "n1"), scheduled("b", "n1")))
        first, second = await Live(world, Running()).answers(case)
    assert (first.node, second.result) == ("n2", "Unschedulable")
    assert world.writes.count(("create", "a")) == 2
