"""Which nodes are looked at, and what is said when none fits."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import FilterOnly, PreFilterOnly, ScoreOnly, attempt, names, nodes, plugin, profile

from kubesched.framework import unresolvable, unschedulable
from kubesched.framework.search import NoNodesError, Search, find, nodes_to_find
from kubesched.framework.status import Code
from kubesched.testing.builders import cluster, node, pod


def looked(diagnosis):
    return [diagnosis.cycle.cluster.nodes.names[row] for row in diagnosis.view.rows[diagnosis.feasible]]


@pytest.mark.parametrize(
    ("nodes_", "percentage", "expected"),
    [
        (10, 0, 10),
        (99, 30, 99),
        (1000, 0, 420),
        (1000, 40, 400),
        (5000, 0, 500),
        (6000, 0, 300),
        (6000, 40, 2400),
        (100, 0, 100),
        (150, 10, 100),
        (1000, 100, 1000),
    ],
)
def test_nodes_to_find(nodes_, percentage, expected):
    """All below 100 nodes; then a share that shrinks from 50 to 5 percent, but at least 100."""
    assert nodes_to_find(nodes_, percentage) == expected


def sampled(count, bad=(), percentage=50):
    state = cluster(*nodes(count))
    framework = profile(plugin(FilterOnly, "F", bad=tuple(bad)), plugin(ScoreOnly, "S"))
    return state, framework, Search(percentage=percentage)


def test_the_search_ends_before_the_node_after_the_last_wanted():
    """Rejected nodes between the last wanted and the next feasible one count as looked at."""
    state, framework, search = sampled(300, bad=("n0", "n151", "n152"))
    found = find(attempt(framework, pod("p"), state), search)
    assert len(found.feasible) == 150
    assert looked(found)[0] == "n1"
    assert looked(found)[-1] == "n150"
    assert search.next_start == 153


def test_the_next_search_begins_where_the_last_one_ended():
    """And wraps around."""
    state, framework, search = sampled(300)
    first = looked(find(attempt(framework, pod("p"), state), search))
    second = looked(find(attempt(framework, pod("q"), state), search))
    assert (first[0], second[0], second[-1]) == ("n0", "n150", "n299")
    assert search.next_start == 0


def test_chunks_do_not_change_the_result():
    """Many rejections at the beginning only make the search look further."""
    bad = tuple(f"n{i}" for i in range(0, 400, 2))
    state, framework, search = sampled(600, bad)
    found = find(attempt(framework, pod("p"), state), search)
    assert looked(found) == [f"n{i}" for i in range(600) if f"n{i}" not in bad][:300]


def test_one_node_is_enough_without_scores():
    """Nobody would choose among more."""
    state = cluster(*nodes(300))
    framework = profile(plugin(FilterOnly, "F", bad=("n0",)))
    search = Search()
    assert looked(find(attempt(framework, pod("p"), state), search)) == ["n1"]
    assert search.next_start == 2


def test_nodes_of_zones_take_turns():
    """The order is round robin over zones."""
    state = cluster(node("a1").in_zone("a"), node("a2").in_zone("a"), node("b1").in_zone("b"), node("c"))
    framework = profile(plugin(FilterOnly, "F"), plugin(ScoreOnly, "S"))
    assert looked(find(attempt(framework, pod("p"), state), Search())) == ["a1", "b1", "c", "a2"]


def test_the_nominated_node_is_tried_alone_first():
    """It is taken even if others were better; when it does not fit, the others are looked at."""
    state = cluster(*nodes(3))
    framework = profile(plugin(FilterOnly, "F", bad=("n2",)), plugin(ScoreOnly, "S", points={"n0": 9}))
    assert looked(find(attempt(framework, pod("p").nominated_to("n1"), state), Search())) == ["n1"]
    assert looked(find(attempt(framework, pod("p").nominated_to("n2"), state), Search())) == ["n0", "n1"]
    assert looked(find(attempt(framework, pod("p").nominated_to("gone"), state), Search())) == ["n0", "n1"]


def test_no_nodes_at_all():
    """An empty cluster asks no plugin."""
    with pytest.raises(NoNodesError):
        find(attempt(profile(), pod("p"), cluster()), Search())


class Crowded(FilterOnly):
    """A node takes one pod."""

    name = "Crowded"

    def filter(self, cycle, view):
        return (view.pod_count > 0).astype(np.int64)

    def status(self, cycle, code):
        return unschedulable("crowded")


class NeedsCompany(Crowded):
    name = "NeedsCompany"

    def filter(self, cycle, view):
        return (view.pod_count == 0).astype(np.int64)


@pytest.mark.parametrize(
    ("kind", "nominated", "fits"),
    [
        pytest.param(Crowded, pod("q").with_priority(5), [], id="a place kept for an equal is taken"),
        pytest.param(Crowded, pod("q").with_priority(4), ["n0"], id="one kept for a lower one is not"),
        pytest.param(Crowded, pod("p").with_priority(5), ["n0"], id="nor is the pod's own"),
        pytest.param(NeedsCompany, pod("q").with_priority(9), [], id="one that will come is not there yet"),
    ],
)
def test_nominated_pods_count_both_ways(kind, nominated, fits):
    """A node must fit with the pods nominated to it and without them."""
    state = cluster(*nodes(1))
    state.nominated.add(nominated, "n0")
    framework = profile(kind(), plugin(ScoreOnly, "S"))
    found = find(attempt(framework, pod("p").with_priority(5), state), Search())
    assert looked(found) == fits


def message(pre_filters=(), bad=(), count=3):
    state = cluster(*nodes(count))
    fakes = [plugin(PreFilterOnly, f"P{i}", answer=answer) for i, answer in enumerate(pre_filters)]
    framework = profile(*fakes, plugin(FilterOnly, "F", bad=tuple(bad)))
    diagnosis = find(attempt(framework, pod("p"), state), Search())
    return diagnosis.message(count), diagnosis


@pytest.mark.parametrize(
    ("pre_filters", "bad", "text"),
    [
        pytest.param(
            [],
            ["n0", "n1", "n2"],
            "0/3 nodes are available: 1 n0 is bad, 1 n1 is bad, 1 n2 is bad.",
            id="a reason per node",
        ),
        pytest.param(
            [unresolvable("never")],
            [],
            "0/3 nodes are available: never.",
            id="PreFilter speaks for all nodes",
        ),
        pytest.param(
            [names("n1")],
            ["n1"],
            "0/3 nodes are available: 1 n1 is bad, 2 node(s) didn't satisfy plugin(s) [P0].",
            id="nodes that PreFilter left out are counted",
        ),
        pytest.param(
            [names("gone")],
            [],
            "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [P0].",
            id="PreFilter names an unknown node",
        ),
        pytest.param(
            [names("n1"), names("n2")],
            [],
            "0/3 nodes are available: node(s) didn't satisfy plugin(s) [P0 P1] simultaneously.",
            id="nothing is left",
        ),
    ],
)
def test_message(pre_filters, bad, text):
    """The text of the condition, to the character."""
    assert message(pre_filters, bad)[0] == text


def test_reasons_sort_as_strings():
    """10 comes before 2."""

    class Two(FilterOnly):
        name = "Two"

        def filter(self, cycle, view):
            return np.where(view.rows < 2, 1, 2).astype(np.int64)

        def status(self, cycle, code):
            return unschedulable("a") if code == 1 else unschedulable("b", "c")

    state = cluster(*nodes(12))
    diagnosis = find(attempt(profile(Two()), pod("p"), state), Search())
    assert diagnosis.message(12) == "0/12 nodes are available: 10 b, 10 c, 2 a."


def test_who_is_to_blame():
    """Rejecting plugins and those that narrowed the nodes are; the queue wakes the pod by their hints."""
    _, diagnosis = message([names("n1")], ["n1"])
    assert diagnosis.unschedulable_plugins == {"P0", "F"}
    _, diagnosis = message([unschedulable("x")])
    assert diagnosis.unschedulable_plugins == {"P0"}
    assert diagnosis.rows_with(Code.Unschedulable) == [0, 1, 2]
    _, diagnosis = message([names("n1")], ["n1"])
    assert diagnosis.rows_with(Code.Unschedulable) == [1]
    assert sorted(diagnosis.rows_with(Code.UnschedulableAndUnresolvable)) == [0, 2]
