"""Which pods would have to go: minimal victims, budgets, and the choice between nodes."""

from __future__ import annotations

import pytest
from preemption_world import budget, candidates, explained

from kubesched.testing.builders import HOSTNAME, node, pod

HIGH = pod("p").with_priority(100)


def machine(name, cpu=4):
    return node(name).cpu(cpu)


def running(name, where, cpu, priority=0, minute=0):
    made = pod(name).cpu(cpu).with_priority(priority).on(where)
    return made.started(f"2026-01-01T00:{minute:02}:00Z")


@pytest.mark.parametrize(
    ("incoming", "objects", "expected"),
    [
        pytest.param(HIGH.cpu(2), [machine("n"), running("a", "n", 4)], {"n": ["a"]}, id="one victim"),
        pytest.param(
            HIGH.cpu(2),
            [machine("n"), running("a", "n", 2, minute=1), running("b", "n", 2, minute=2)],
            {"n": ["b"]},
            id="of equals, the one that started later goes",
        ),
        pytest.param(
            HIGH.cpu(2),
            [machine("n"), running("a", "n", 2, 1), running("b", "n", 2, 2)],
            {"n": ["a"]},
            id="the lower priority goes",
        ),
        pytest.param(
            HIGH.cpu(3),
            [
                machine("n"),
                running("a", "n", 1, 3),
                running("b", "n", 1, 2),
                running("c", "n", 1, 1),
                running("d", "n", 1, 0),
            ],
            {"n": ["b", "c", "d"]},
            id="no more go than must, the most important named first",
        ),
        pytest.param(HIGH.cpu(2), [machine("n"), running("a", "n", 4, 100)], {}, id="equal priority is safe"),
        pytest.param(
            HIGH.cpu(5), [machine("n"), running("a", "n", 4)], {}, id="a node that is too small is no help"
        ),
        pytest.param(
            HIGH.cpu(4),
            [machine("n"), running("a", "n", 1), running("b", "n", 1, 200)],
            {},
            id="what stays leaves too little room",
        ),
        pytest.param(
            HIGH.cpu(2).away_from({"app": "x"}),
            [machine("n"), running("a", "n", 1).label("app", "x"), running("b", "n", 1, 5)],
            {"n": ["a"]},
            id="anti-affinity decides who must go, not only room",
        ),
        pytest.param(
            HIGH.cpu(1).host_port(80),
            [machine("n"), running("a", "n", 1, 1).host_port(80), running("b", "n", 1)],
            {"n": ["a"]},
            id="so do ports",
        ),
        pytest.param(
            HIGH.host_port(80),
            [
                machine("n"),
                running("a", "n", 1).host_port(80),
                running("b", "n", 1, 200).host_port(80),
            ],
            {"n": ["a"]},
            id="a port that two have is free once one of them goes, as upstream",
        ),
        pytest.param(
            HIGH.label("app", "web").spread({"app": "web"}, HOSTNAME),
            [
                machine("n"),
                machine("m"),
                running("a", "n", 1).label("app", "web"),
                running("c", "n", 1, 1).label("app", "web"),
                running("b", "m", 4, 200),
            ],
            None,
            id="a node that is feasible needs no preemption",
        ),
    ],
)
def test_victims(incoming, objects, expected):
    """Everybody of lower priority leaves, then returns one by one while the pod still fits."""
    found = candidates(incoming, *objects)
    assert (None if found is None else found[0]) == expected


def test_spread_preemption():
    """A pod that counts against the spread goes, on its own node only."""
    incoming = HIGH.label("app", "web").spread({"app": "web"}, HOSTNAME).node_selector("use", "yes")
    objects = [
        machine("n").label("use", "yes"),
        machine("m").label("use", "yes"),
        running("a", "n", 1, 1).label("app", "web"),
        running("b", "n", 1, 0, 1).label("app", "web"),
        running("c", "m", 4, 200),
    ]
    assert candidates(incoming.cpu(1), *objects) == ({"n": ["a", "b"]}, ["n"])


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [
        pytest.param([], ["b"], id="without a budget the later start goes"),
        pytest.param([budget(1, app="x")], ["b"], id="a budget that allows one disruption allows b"),
        pytest.param([budget(0, app="x")], ["a"], id="a budget that allows none saves b"),
        pytest.param(
            [budget(0, disrupted=("b",), app="x")], ["b"], id="a disruption that is accounted for is free"
        ),
        pytest.param([budget(0)], ["b"], id="an empty selector covers nobody"),
    ],
)
def test_budgets(budgets, expected):
    """Those who would violate a budget return first."""
    objects = [machine("n"), running("a", "n", 2, minute=1), running("b", "n", 2, minute=2).label("app", "x")]
    assert candidates(HIGH.cpu(2), *objects, *budgets)[0] == {"n": expected}


def test_a_budget_is_violated_when_nothing_else_helps():
    """Budgets are preferred, not obeyed at all cost."""
    objects = [machine("n"), running("a", "n", 4).label("app", "x"), budget(0, app="x")]
    assert candidates(HIGH.cpu(2), *objects) == ({"n": ["a"]}, ["n"])


def two(first, second):
    return [machine("n"), machine("m"), *first, *second]


@pytest.mark.parametrize(
    ("first", "second", "more", "best"),
    [
        pytest.param(
            [running("a", "n", 4, 5)],
            [running("b", "m", 4, 1).label("app", "x")],
            [budget(0, app="x")],
            ["n"],
            id="fewest violated budgets first",
        ),
        pytest.param(
            [running("a", "n", 4, 5)],
            [running("b", "m", 4, 6)],
            [],
            ["n"],
            id="then the lowest highest priority",
        ),
        pytest.param(
            [running("a", "n", 2, 5), running("c", "n", 2, 4, 1)],
            [running("b", "m", 2, 5), running("d", "m", 2, 3, 1)],
            [],
            ["m"],
            id="then the lowest sum of priorities",
        ),
        pytest.param(
            [running("a", "n", 2, 5), running("c", "n", 2, 0, 1)],
            [running("b", "m", 4, 5)],
            [],
            ["m"],
            id="every victim adds to the sum",
        ),
        pytest.param(
            [running("a", "n", 2, -5), running("c", "n", 2, -5, 1)],
            [running("b", "m", 4, -5)],
            [],
            ["m"],
            id="also with negative priorities",
        ),
        pytest.param(
            [running("a", "n", 4, 5, 1)],
            [running("b", "m", 4, 5, 2)],
            [],
            ["m"],
            id="then the latest start of the most important victim",
        ),
        pytest.param(
            [running("a", "n", 4, 5, 1)],
            [running("b", "m", 4, 5, 1)],
            [],
            ["n", "m"],
            id="equals in everything are both named",
        ),
    ],
)
def test_choice(first, second, more, best):
    """The criteria apply one after the other."""
    found = candidates(HIGH.cpu(4), *two(first, second), *more)
    assert set(found[0]) == {"n", "m"}
    assert sorted(found[1]) == sorted(best)


def test_a_pod_nominated_to_the_node_keeps_its_place():
    """The dry run counts pods that are nominated with at least the same priority."""
    nominated = pod("q").cpu(2).with_priority(100).nominated_to("n")
    objects = [machine("n"), running("a", "n", 2, 1), running("b", "n", 2, 2), nominated]
    assert candidates(HIGH.cpu(2), *objects)[0] == {"n": ["b", "a"]}
    lower = pod("q").cpu(2).with_priority(99).nominated_to("n")
    assert candidates(HIGH.cpu(2), *objects[:3], lower)[0] == {"n": ["a"]}


def test_nodes_that_no_eviction_helps_are_left_alone():
    """A node with an untolerated taint is no candidate, and the message says so."""
    objects = [machine("n").taint("t"), machine("m", 1), running("a", "n", 4), running("b", "m", 1)]
    answer = explained(HIGH.cpu(2), *objects)
    assert answer.preemption.candidates == {}
    assert answer.message == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
        "no new claims to deallocate, preemption: 0/2 nodes are available: "
        "2 Preemption is not helpful for scheduling."
    )


def test_the_message_names_why_each_dry_run_failed():
    """Candidates without victims, and those where it still does not fit, are told apart."""
    objects = [
        machine("n"),
        machine("m"),
        running("a", "n", 4, 200),
        running("b", "m", 1),
        running("c", "m", 3, 200),
    ]
    assert explained(HIGH.cpu(2), *objects).message == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod."
    )


def test_success_leaves_no_suffix():
    """When preemption finds a node, the message is the filters' alone."""
    answer = explained(HIGH.cpu(2), machine("n"), running("a", "n", 4))
    assert answer.message == "0/1 nodes are available: 1 Insufficient cpu."


@pytest.mark.parametrize(
    ("incoming", "more", "text"),
    [
        pytest.param(
            pod("p").cpu(2).with_priority(100, preemption_policy="Never"),
            [],
            "not eligible due to preemptionPolicy=Never.",
            id="a pod that may not preempt",
        ),
        pytest.param(
            HIGH.cpu(2).nominated_to("n"),
            ["leaving"],
            "not eligible due to a terminating pod on the nominated node.",
            id="a pod whose victims are still leaving",
        ),
    ],
)
def test_eligibility(incoming, more, text):
    """A pod that may not preempt is told why, and nothing is tried."""
    from msgspec.structs import replace

    from kubesched.api.pod import PodCondition

    leaving = running("leaving", "n", 1).terminating()
    target = PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")
    leaving = replace(leaving, status=replace(leaving.status, conditions=(target,)))
    objects = [machine("n"), running("a", "n", 3), *([leaving] if more else [])]
    answer = explained(incoming, *objects)
    assert answer.preemption is None
    assert answer.message.endswith(f"no new claims to deallocate, preemption: {text}")


def test_another_reason_to_terminate_does_not_hold_preemption_back():
    """Only victims of a scheduler's preemption count as leaving for the pod."""
    objects = [machine("n"), running("a", "n", 3), running("b", "n", 1).terminating()]
    assert explained(HIGH.cpu(2).nominated_to("n"), *objects).preemption is not None
