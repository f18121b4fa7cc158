"""Plugins are checked when they are registered, and profiles when they are built."""

from __future__ import annotations

import pytest
from fakes import Binder, FilterOnly, PreFilterOnly, ScoreOnly, Sort, handle, plugin

from kubesched.config.types import Plugin, Plugins, PluginSet, Profile
from kubesched.framework.hints import EVERYTHING, events_of
from kubesched.framework.interface import ClusterEventWithHint
from kubesched.framework.profile import build
from kubesched.framework.registration import RegistrationError, register
from kubesched.framework.registry import Registry, UnknownPluginError, merge
from kubesched.state.events import ActionType, ClusterEvent, Resource


def made(**methods):
    return type("Made", (), {"name": "Made", **methods})()


@pytest.mark.parametrize(
    ("methods", "text"),
    [
        pytest.param(
            {"filter": lambda self, cycle, view: None},
            r"filter needs the method status\(self, cycle, code\), which is missing",
            id="half a filter",
        ),
        pytest.param(
            {"filter": lambda self, cycle: None, "status": lambda self, cycle, code: None},
            r"filter needs the method filter\(self, cycle, view\): too many positional",
            id="a missing parameter",
        ),
        pytest.param(
            {"pre_filter": lambda self, cycle, pod: None},
            r"pre_filter\(self, cycle\): missing a required",
            id="a parameter too many",
        ),
        pytest.param(
            {"bind": lambda self, cycle, node_name: None},
            r"needs the method async bind\(self, cycle, node_name\), but it is not async",
            id="a sync bind",
        ),
        pytest.param(
            {"score": 5},
            r"score needs the method score\(self, cycle, view\), but score is int",
            id="no method",
        ),
        pytest.param(
            {"prefilter": lambda self, cycle: None},
            r"method prefilter belongs to no extension point; "
            r"pre_filter is meant\?",
            id="a misspelt method",
        ),
        pytest.param(
            {"normalize": lambda self, cycle, view, raw: raw},
            "implements no extension point",
            id="normalisation alone",
        ),
        pytest.param(
            {
                "filter_node": lambda self, cycle, node: None,
                "filter": lambda self, cycle, view: None,
                "status": lambda self, cycle, code: None,
            },
            "define filter_node or filter, not both",
            id="both kinds of filter",
        ),
        pytest.param(
            {"unreserve": lambda self, cycle, node_name: None},
            r"reserve needs the method reserve\(self, cycle, node_name\), which is missing",
            id="half a reserve",
        ),
    ],
)
def test_register_refuses(methods, text):
    """The error names the plugin, the method and what is expected."""
    with pytest.raises(RegistrationError, match=f'^plugin "Made": .*{text}'):
        register(made(**methods))


def test_register_needs_a_name():
    """A plugin without a name cannot be configured."""
    with pytest.raises(RegistrationError, match="needs a class attribute `name`"):
        register(object())


def test_register_reads_the_points_off_the_methods():
    """A per-node plugin serves the vector points."""
    found = register(made(filter_node=lambda self, cycle, node: None, score_node=lambda self, cycle, node: 1))
    assert found.points.keys() == {"filter", "score"}


def events(*registered):
    return register(made(pre_filter=lambda self, cycle: None, events_to_register=lambda self: registered))


def test_a_plugin_that_registers_nothing_waits_for_everything():
    """Nobody knows what could help its pods."""
    assert events_of(register(made(pre_filter=lambda self, cycle: None))) == EVERYTHING


def test_node_add_brings_taint_updates_with_it():
    """Otherwise the plugin would not hear of a node whose taints kept the pod from seeing it."""
    add = ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.Add))
    taint = ClusterEvent(Resource.Node, ActionType.UpdateNodeTaint)
    assert [item.event for item in events_of(events(add))] == [add.event, taint]
    both = ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.Add | ActionType.UpdateNodeTaint))
    assert events_of(events(both)) == (both,)


def test_an_unknown_event_is_refused():
    """What is no event names its plugin."""
    with pytest.raises(RegistrationError, match='plugin "Made": events_to_register gave'):
        events_of(events("Node/Add"))


def enabled(*names):
    return PluginSet(enabled=tuple(Plugin(name=n) for n in names))


def disabled(*names):
    return PluginSet(disabled=tuple(Plugin(name=n) for n in names))


FAKES = {
    p.name: lambda _args, _handle, p=p: p
    for p in (
        plugin(FilterOnly, "A"),
        plugin(FilterOnly, "B"),
        plugin(FilterOnly, "C"),
        plugin(ScoreOnly, "S"),
        plugin(PreFilterOnly, "P"),
        Sort(),
        Binder(),
    )
}


def built(registry=None, **plugins):
    spec = Profile(scheduler_name="x", plugins=Plugins(**plugins))
    return build(spec, registry or Registry(FAKES), handle())


BASE = ("Sort", "Binder")


@pytest.mark.parametrize(
    ("multi", "own", "expected"),
    [
        pytest.param(
            ("A", "B", "S"), PluginSet(), ["A", "B"], id="MultiPoint expands to where a plugin has methods"
        ),
        pytest.param(("A", "B"), disabled("A"), ["B"], id="a point may disable one"),
        pytest.param(("A", "B"), disabled("*"), [], id="or all"),
        pytest.param(("A",), enabled("C"), ["A", "C"], id="a point's own plugins come last"),
        pytest.param(("A", "B"), enabled("C", "B"), ["B", "A", "C"], id="those it re-configures come first"),
    ],
)
def test_multi_point(multi, own, expected):
    """Re-configured ones first, then MultiPoint's, then the point's own."""
    framework = built(multi_point=enabled(*multi, *BASE), filter=own)
    assert [p.name for p in framework.filters] == expected


def test_weights():
    """The score point's weight wins over MultiPoint's, and no weight is one."""
    multi = PluginSet(enabled=(Plugin(name="S", weight=5), *enabled(*BASE).enabled))
    assert built(multi_point=multi).scores[0].weight == 5
    own = PluginSet(enabled=(Plugin(name="S", weight=7),))
    assert built(multi_point=multi, score=own).scores[0].weight == 7
    assert built(multi_point=enabled("S", *BASE)).scores[0].weight == 1


@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        pytest.param(
            {"multi_point": enabled("Nope", *BASE)}, 'profile "x": plugin "Nope" does not exist', id="unknown"
        ),
        pytest.param(
            {"multi_point": enabled("Later", *BASE)},
            "exists in kube-scheduler but is not built",
            id="known, not built",
        ),
        pytest.param(
            {"filter": enabled("S"), "multi_point": enabled(*BASE)},
            'plugin "S" does not extend FilterPlugin plugin',
            id="a plugin without that point",
        ),
        pytest.param(
            {"multi_point": enabled("A", "A", *BASE)},
            'plugin "A" already registered as "FilterPlugin"',
            id="twice",
        ),
        pytest.param(
            {"multi_point": enabled("Sort")}, "at least one bind plugin is needed", id="nobody binds"
        ),
        pytest.param(
            {"multi_point": enabled("Binder")},
            "only one queue sort plugin required .* but got 0",
            id="nobody sorts",
        ),
    ],
)
def test_profiles_that_cannot_work(plugins, text):
    """A profile is refused at start, with kube-scheduler's words where it has some."""
    registry = Registry(FAKES, not_built=frozenset({"Later"}))
    with pytest.raises((ValueError, UnknownPluginError), match=text):
        built(registry, **plugins)


def test_names_are_unique_across_packages():
    """A plugin of another package cannot replace one that exists."""
    with pytest.raises(ValueError, match="a plugin named A already exists"):
        merge(FAKES, {"A": FAKES["A"]})
