"""NodeAffinity: node selectors, required and preferred terms, and the profile's own affinity."""

from __future__ import annotations

import pytest
from plugin_world import World, reasons

from kubesched.api.affinity import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from kubesched.config.args import NodeAffinityArgs
from kubesched.framework import SKIP, Hint, NodeNames
from kubesched.framework.status import Code
from kubesched.plugins import node_affinity
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import node, pod

AFFINITY = IN_TREE["NodeAffinity"]


def expression(key, operator, *values):
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def required(*terms):
    return NodeAffinity(required=NodeSelector(node_selector_terms=terms))


def incoming(affinity):
    from msgspec.structs import replace

    from kubesched.api.affinity import Affinity

    made = pod("p")
    return replace(made, spec=replace(made.spec, affinity=Affinity(node_affinity=affinity)))


NODES = (node("a").label("foo", "bar").label("gpus", "4"), node("b").label("foo", "other"), node("c"))


@pytest.mark.parametrize(
    ("wanting", "expected"),
    [
        pytest.param(pod("p"), ["a", "b", "c"], id="a pod without affinity goes anywhere"),
        pytest.param(pod("p").node_selector("foo", "bar"), ["a"], id="a node selector must match"),
        pytest.param(
            pod("p").node_selector("foo", "bar").node_selector("x", "y"), [], id="all of it must match"
        ),
        pytest.param(
            pod("p").requires_node("foo", "In", "bar", "other"), ["a", "b"], id="In matches any of its values"
        ),
        pytest.param(
            pod("p").requires_node("foo", "NotIn", "bar"),
            ["b", "c"],
            id="NotIn matches nodes without the label",
        ),
        pytest.param(pod("p").requires_node("foo", "Exists"), ["a", "b"], id="Exists asks for the label"),
        pytest.param(
            pod("p").requires_node("foo", "DoesNotExist"), ["c"], id="DoesNotExist asks for its absence"
        ),
        pytest.param(pod("p").requires_node("gpus", "Gt", "3"), ["a"], id="Gt compares integers"),
        pytest.param(pod("p").requires_node("gpus", "Lt", "4"), [], id="Lt is strict"),
        pytest.param(
            pod("p").requires_node("x", "Exists").requires_node("foo", "In", "bar"),
            ["a"],
            id="terms are ORed",
        ),
        pytest.param(
            pod("p").node_selector("gpus", "4").requires_node("foo", "In", "other"),
            [],
            id="selector and affinity are ANDed",
        ),
        pytest.param(
            incoming(
                required(
                    NodeSelectorTerm(
                        match_expressions=(expression("foo", "Exists"), expression("gpus", "Exists"))
                    )
                )
            ),
            ["a"],
            id="expressions of a term are ANDed",
        ),
        pytest.param(incoming(required(NodeSelectorTerm())), [], id="an empty term matches nothing"),
        pytest.param(incoming(required()), [], id="no terms match nothing"),
        pytest.param(
            incoming(required(NodeSelectorTerm(match_fields=(expression("metadata.name", "NotIn", "a"),)))),
            ["b", "c"],
            id="a field requirement reads the node's name",
        ),
        pytest.param(
            incoming(
                required(
                    NodeSelectorTerm(
                        match_expressions=(expression("foo", "Exists"),),
                        match_fields=(expression("metadata.name", "In", "b"),),
                    )
                )
            ),
            ["b"],
            id="fields and labels are ANDed",
        ),
        pytest.param(
            incoming(
                required(
                    NodeSelectorTerm(match_expressions=(expression("foo", "Gt", "x"),)),
                    NodeSelectorTerm(match_expressions=(expression("foo", "In", "bar"),)),
                )
            ),
            ["a"],
            id="an unreadable term is passed over",
        ),
    ],
)
def test_filter(wanting, expected):
    """What the pod requires of labels and names decides, and no eviction can change it."""
    world = World(AFFINITY, *NODES)
    assert world.passing(wanting) == expected
    for status in world.rejections(wanting).values():
        assert status.reasons == ("node(s) didn't match Pod's node affinity/selector",)
        assert status.code is Code.UnschedulableAndUnresolvable


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param([("In", "a")], NodeNames(frozenset("a")), id="one term names its node"),
        pytest.param([("In", "a"), ("In", "b")], NodeNames(frozenset("ab")), id="terms add up"),
        pytest.param([("In", "a"), ("NotIn", "b")], None, id="a term that names none leaves all nodes"),
    ],
)
def test_pre_filter_names_nodes(terms, expected):
    """If every term names nodes, only these are looked at."""
    built = [NodeSelectorTerm(match_fields=(expression("metadata.name", *term),)) for term in terms]
    assert World(AFFINITY, *NODES).pre_filter(incoming(required(*built))) == expected


def test_pre_filter_finds_a_conflict():
    """A term that asks for two names at once can never be met."""
    term = NodeSelectorTerm(
        match_fields=(expression("metadata.name", "In", "a"), expression("metadata.name", "In", "b"))
    )
    status = World(AFFINITY, *NODES).pre_filter(incoming(required(term)))
    assert (status.code, status.message) == (Code.UnschedulableAndUnresolvable, "pod affinity terms conflict")


def test_pre_filter_skips_a_pod_without_affinity():
    """Nothing required of nodes, nothing to filter."""
    assert World(AFFINITY, *NODES).pre_filter(pod("p")) is SKIP


@pytest.mark.parametrize(
    ("wanting", "expected"),
    [
        pytest.param(pod("p"), None, id="a pod that prefers nothing is skipped"),
        pytest.param(
            pod("p").prefers_node(3, "foo", "In", "bar"), {"a": 100, "b": 0, "c": 0}, id="one preferred term"
        ),
        pytest.param(
            pod("p")
            .prefers_node(2, "foo", "In", "bar")
            .prefers_node(4, "gpus", "Exists")
            .prefers_node(5, "foo", "In", "other"),
            {"a": 100, "b": 83, "c": 0},
            id="weights add up and are scaled by the highest sum",
        ),
        pytest.param(
            pod("p").prefers_node(2, "nothing", "Exists"), {"a": 0, "b": 0, "c": 0}, id="no node preferred"
        ),
    ],
)
def test_score(wanting, expected):
    """The sum of matching weights, scaled to 100."""
    assert World(AFFINITY, *NODES).scores(wanting) == expected


def test_added_affinity_comes_first():
    """The profile's required terms reject under their own reason, and before the pod's."""
    args = NodeAffinityArgs(
        added_affinity=required(NodeSelectorTerm(match_expressions=(expression("foo", "In", "bar"),)))
    )
    world = World(AFFINITY, *NODES, args=args)
    enforced = ("node(s) didn't match scheduler-enforced node affinity",)
    assert reasons(world.rejections(pod("p"))) == {"b": enforced, "c": enforced}
    both = reasons(world.rejections(pod("p").node_selector("foo", "other")))
    assert both == {"a": ("node(s) didn't match Pod's node affinity/selector",), "b": enforced, "c": enforced}


def test_added_preference_counts_for_every_pod():
    """The profile's preferred terms count beside the pod's own."""
    term = PreferredSchedulingTerm(
        weight=4, preference=NodeSelectorTerm(match_expressions=(expression("gpus", "Exists"),))
    )
    args = NodeAffinityArgs(added_affinity=NodeAffinity(preferred=(term,)))
    world = World(AFFINITY, *NODES, args=args)
    assert world.scores(pod("p")) == {"a": 100, "b": 0, "c": 0}
    assert world.scores(pod("p").prefers_node(1, "foo", "In", "other")) == {"a": 100, "b": 25, "c": 0}


def test_unreadable_added_affinity_is_refused():
    """A profile's unreadable term is an error at start-up."""
    args = NodeAffinityArgs(
        added_affinity=required(NodeSelectorTerm(match_expressions=(expression("foo", "Near"),)))
    )
    with pytest.raises(ValueError, match=r"addedAffinity\.required"):
        World(AFFINITY, args=args)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, node("n").label("foo", "bar"), Hint.Queue, id="a new matching node"),
        pytest.param(None, node("n"), Hint.Skip, id="a new node that does not match"),
        pytest.param(node("n"), node("n").label("foo", "bar"), Hint.Queue, id="a node that begins to match"),
        pytest.param(
            node("n").label("foo", "bar"),
            node("n").label("foo", "bar").label("x", "y"),
            Hint.Skip,
            id="a node that matched before",
        ),
    ],
)
def test_hints(old, new, expected):
    """A node is worth an attempt when it begins to match."""
    action = ActionType.Add if old is None else ActionType.UpdateNodeLabel
    hint = World(AFFINITY).hint(pod("p").requires_node("foo", "In", "bar"), Resource.Node, action, old, new)
    assert hint is expected


PODS_OF_ALL_KINDS = (
    pod("p"),
    pod("p").node_selector("disk", "ssd"),
    *(pod("p").requires_node("cpus", operator, "8") for operator in ("In", "NotIn", "Gt", "Lt")),
    *(pod("p").requires_node("cpus", operator) for operator in ("Exists", "DoesNotExist")),
    pod("p").requires_node("disk", "In", "ssd").requires_node("cpus", "Gt", "4"),
    pod("p").requires_node("metadata.name", "In", "b").requires_node("cpus", "Exists"),
    pod("p").requires_node("metadata.name", "NotIn", "b"),
    pod("p").requires_node("cpus", "Near"),
    pod("p").prefers_node(5, "disk", "In", "ssd").prefers_node(30, "cpus", "Gt", "4"),
)


NOT_C = NodeSelectorTerm(match_fields=(expression("metadata.name", "NotIn", "c"),))


@pytest.mark.parametrize("added", [None, required(NOT_C)], ids=["no affinity added", "an affinity added"])
def test_a_few_nodes_are_decided_like_many(added, monkeypatch):
    """Whether nodes are asked one by one or as columns makes no difference."""
    nodes = [
        node("a").label("disk", "ssd"),
        node("b").label("cpus", "8"),
        node("c").label("cpus", "16").label("disk", "ssd"),
        node("d").label("cpus", "many"),
    ]
    world = World(AFFINITY, *nodes, args=NodeAffinityArgs(added_affinity=added))
    one_by_one = [(world.rejections(one), world.scores(one)) for one in PODS_OF_ALL_KINDS]
    monkeypatch.setattr(node_affinity, "_FEW", 0)
    assert [(world.rejections(one), world.scores(one)) for one in PODS_OF_ALL_KINDS] == one_by_one
