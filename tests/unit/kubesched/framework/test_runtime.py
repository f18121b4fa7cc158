"""How the extension points of the scheduling cycle run: order, status algebra, texts."""

from __future__ import annotations

import pytest
from fakes import (
    FilterOnly,
    PostFilterOnly,
    PreFilterOnly,
    ScoreOnly,
    Skipped,
    attempt,
    names,
    nodes,
    plugin,
    profile,
)

from kubesched.framework import (
    SKIP,
    PluginError,
    PostFilterResult,
    Status,
    error,
    unresolvable,
    unschedulable,
)
from kubesched.framework.feasible import feasible
from kubesched.framework.search import Search, find
from kubesched.framework.status import Code
from kubesched.state import View
from kubesched.testing.builders import cluster, pod


def pre_filters(*answers):
    return [plugin(PreFilterOnly, f"P{i}", answer=answer) for i, answer in enumerate(answers)]


def run_pre_filter(*answers):
    state = cluster(*nodes(2))
    framework = profile(*pre_filters(*answers))
    cycle = attempt(framework, pod("p"), state)
    return framework.run_pre_filter(cycle), cycle


@pytest.mark.parametrize(
    ("answers", "status", "kept", "plugins"),
    [
        pytest.param([None, None], None, None, set(), id="all nodes remain"),
        pytest.param(
            [names("a", "b"), None, names("b", "c")],
            None,
            {"b"},
            {"P0", "P2"},
            id="node sets are intersected",
        ),
        pytest.param(
            [names("a"), names("b")],
            unresolvable("node(s) didn't satisfy plugin(s) [P0 P1] simultaneously"),
            set(),
            {"P0", "P1"},
            id="an empty intersection",
        ),
        pytest.param(
            [names()], unresolvable("node(s) didn't satisfy plugin P0"), set(), {"P0"}, id="one empty set"
        ),
        pytest.param([unschedulable("x"), None], unschedulable("x").by("P0"), None, set(), id="a rejection"),
        pytest.param(
            [unschedulable("x"), unschedulable("y")],
            unschedulable("y").by("P1"),
            None,
            set(),
            id="the last of several rejections",
        ),
        pytest.param(
            [unschedulable("x"), unresolvable("y"), unschedulable("z")],
            unresolvable("y").by("P1"),
            None,
            set(),
            id="an unresolvable one ends it",
        ),
        pytest.param(
            [unschedulable("x"), names("a")],
            unschedulable("x").by("P0"),
            {"a"},
            {"P1"},
            id="after a rejection the others still narrow",
        ),
    ],
)
def test_pre_filter(answers, status, kept, plugins):
    """Unschedulable lets the others run, UnschedulableAndUnresolvable does not."""
    result, _ = run_pre_filter(*answers)
    assert result.status == status
    assert result.plugins == plugins
    if status is None or kept is not None:
        assert result.names == (None if kept is None else frozenset(kept))


def test_pre_filter_remembers_who_skips():
    """A plugin that skips is left out at Filter, also when a later one rejects."""
    _, cycle = run_pre_filter(SKIP, unresolvable("x"), SKIP)
    assert cycle.skip_filter == {"P0"}


def test_pre_filter_error():
    """An Error and an exception both end the attempt, with the plugin's name."""
    with pytest.raises(PluginError, match=r'^running PreFilter plugin "P0": broken$'):
        run_pre_filter(error("broken"))

    class Buggy(PreFilterOnly):
        name = "Buggy"

        def pre_filter(self, cycle):
            raise KeyError("lost")

    framework = profile(Buggy())
    with pytest.raises(PluginError, match=r"^running PreFilter plugin \"Buggy\": 'lost'$"):
        framework.run_pre_filter(attempt(framework, pod("p"), cluster()))


def test_filters_run_on_survivors_only():
    """Each filter sees the nodes that passed those before it; the first rejection counts."""
    state = cluster(*nodes(4))
    seen = []

    class Watching(FilterOnly):
        def filter(self, cycle, view):
            seen.append([cycle.cluster.nodes.names[row] for row in view.rows])
            return super().filter(cycle, view)

    first = plugin(FilterOnly, "First", bad=("n1", "n3"))
    second = plugin(Watching, "Second", bad=("n3", "n0"))
    framework = profile(first, second)
    cycle = attempt(framework, pod("p"), state)
    by, code = framework.run_filter(cycle, View(state, state.nodes.order))
    assert seen == [["n0", "n2"]]
    assert by.tolist() == [1, 0, -1, 0]
    assert code.tolist() == [2, 1, 0, 2]


def test_a_skipped_filter_does_not_run():
    """PreFilter's Skip silences the coupled Filter."""
    state = cluster(*nodes(2))
    framework = profile(plugin(Skipped, "S", bad=("n0",)))
    cycle = attempt(framework, pod("p"), state)
    framework.run_pre_filter(cycle)
    by, _ = framework.run_filter(cycle, View(state, state.nodes.order))
    assert by.tolist() == [-1, -1]


class Failing(FilterOnly):
    """Errs on the nodes it calls bad."""

    name = "Failing"

    def filter(self, cycle, view):
        return -super().filter(cycle, view)

    def status(self, cycle, code):
        return error(f"code {code}")


def test_a_negative_code_is_an_error():
    """A filter that fails on some node ends the attempt."""
    framework = profile(plugin(Failing, "Failing", bad=("n0", "n1")))
    with pytest.raises(PluginError, match=r'^running "Failing" filter plugin: code -1$'):
        find(attempt(framework, pod("p"), cluster(*nodes(2))), Search())


def test_an_error_beyond_the_last_node_looked_at_does_not_matter():
    """The search has ended before it."""
    framework = profile(plugin(Failing, "Failing", bad=("n120",)), plugin(ScoreOnly, "S"))
    search = Search(percentage=1)
    assert len(find(attempt(framework, pod("p"), cluster(*nodes(130))), search).feasible) == 100
    with pytest.raises(PluginError):
        find(attempt(framework, pod("p"), cluster(*nodes(130))), search)


def test_an_error_on_the_nominated_node_is_said_and_all_nodes_are_looked_at(caplog):
    """A nomination is a hint; PreFilter may have left the node out anyway."""
    framework = profile(
        plugin(Failing, "Failing", bad=("n1",)), plugin(PreFilterOnly, "Only", answer=names("n0"))
    )
    found = find(attempt(framework, pod("p").nominated_to("n1"), cluster(*nodes(2))), Search())
    assert found.feasible.tolist() == [0]
    assert "Evaluation failed on nominated node" in caplog.text


def test_a_filter_that_looks_at_one_node_at_a_time_errs_on_that_node_alone():
    """An exception without a text is told by its kind."""

    class Brittle:
        name = "Brittle"

        def filter_node(self, cycle, node):
            if node.name == "n1":
                raise KeyError

    framework = profile(Brittle())
    state = cluster(*nodes(3))
    verdict = feasible(attempt(framework, pod("p"), state), View(state, state.nodes.order))
    assert verdict.ok.tolist() == [True, False, True]
    assert verdict.status_at(1) == error('running "Brittle" filter plugin: KeyError').by("Brittle")


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        pytest.param(
            [PostFilterResult(unschedulable("a")), PostFilterResult(unschedulable("b"))],
            PostFilterResult(Status(Code.Unschedulable, ("a", "b"), "F0")),
            id="rejections add up",
        ),
        pytest.param(
            [PostFilterResult(unschedulable("a")), PostFilterResult(nominated="n1")],
            PostFilterResult(nominated="n1"),
            id="a success drops what was said before",
        ),
        pytest.param(
            [PostFilterResult(nominated="n1"), PostFilterResult(nominated="n2")],
            PostFilterResult(nominated="n1"),
            id="the first success ends it",
        ),
        pytest.param(
            [PostFilterResult(unresolvable("a")), PostFilterResult(nominated="n1")],
            PostFilterResult(unresolvable("a").by("F0")),
            id="nothing can help",
        ),
        pytest.param(
            [PostFilterResult(error("a")), PostFilterResult(nominated="n1")],
            PostFilterResult(error("a").by("F0")),
            id="an error ends it",
        ),
        pytest.param(
            [PostFilterResult(unschedulable("a"), nominated=""), PostFilterResult(unschedulable("b"))],
            PostFilterResult(Status(Code.Unschedulable, ("a", "b"), "F0"), nominated=""),
            id="a nomination that was cleared stays cleared",
        ),
    ],
)
def test_post_filter(results, expected):
    """The first plugin that succeeds, errs or gives up decides; otherwise all are heard."""
    framework = profile(*(plugin(PostFilterOnly, f"F{i}", result=result) for i, result in enumerate(results)))
    assert framework.run_post_filter(attempt(framework, pod("p"), cluster()), None) == expected


def test_a_post_filter_that_raises_errs():
    """The pod stays unschedulable: the nodes rejected it, and their plugins' events wake it."""

    class Raising(PostFilterOnly):
        def post_filter(self, cycle, diagnosis):
            raise ZeroDivisionError("division by zero")

    framework = profile(plugin(Raising, "F"))
    result = framework.run_post_filter(attempt(framework, pod("p"), cluster()), None)
    assert result == PostFilterResult(error('running PostFilter plugin "F": division by zero').by("F"))


class Normalized(ScoreOnly):
    def normalize(self, cycle, view, raw):
        return raw * 10


class SkipsScore(ScoreOnly):
    def pre_score(self, cycle, view):
        return SKIP


def test_scores_are_normalised_and_weighted():
    """Normalisation comes before the weight, a skipped plugin is absent, and the total is the sum."""
    from kubesched.framework.rank import rank

    state = cluster(*nodes(2))
    framework = profile(
        plugin(ScoreOnly, "Plain", points={"n0": 7}),
        plugin(Normalized, "Scaled", points={"n0": 1, "n1": 3}),
        plugin(SkipsScore, "Quiet", points={"n0": 50}),
        weights={"Plain": 2, "Scaled": 3},
    )
    scores = rank(attempt(framework, pod("p"), state), View(state, state.nodes.order))
    assert scores.plugins == ("Plain", "Scaled")
    assert scores.points.tolist() == [[14, 0], [30, 90]]
    assert scores.total.tolist() == [44, 90]
    assert scores.best().tolist() == [1]


def test_without_score_plugins_every_node_gets_one():
    """Ranking needs no plugin."""
    from kubesched.framework.rank import rank

    state = cluster(*nodes(3))
    scores = rank(attempt(profile(), pod("p"), state), View(state, state.nodes.order))
    assert scores.total.tolist() == [1, 1, 1]


@pytest.mark.parametrize("points", [101, -1])
def test_a_score_out_of_range_is_an_error(points):
    """A score must lie in 0..100 once it is normalised."""
    state = cluster(*nodes(1))
    framework = profile(plugin(ScoreOnly, "Wild", points={"n0": points}))
    text = (
        f'applying score defaultWeights on Score plugins: plugin "Wild" returns an invalid score {points}, '
        "it should in the range of [0, 100] after normalizing"
    )
    with pytest.raises(PluginError) as caught:
        framework.run_score(attempt(framework, pod("p"), state), View(state, state.nodes.order))
    assert str(caught.value) == text
