"""How a profile's plugins and arguments are completed."""

from __future__ import annotations

import pytest

from kubesched.config.args import DynamicResourcesArgs, VolumeBindingArgs
from kubesched.config.defaults import complete, default_configuration, default_plugins, merge
from kubesched.config.gates import FeatureGates
from kubesched.config.types import KubeSchedulerConfiguration, Plugin, Plugins, PluginSet, Profile


def plugin_set(enabled: str = "", disabled: str = "") -> PluginSet:
    """`A:3 B` is A with weight 3 and B."""
    parts = [item.partition(":") for item in enabled.split()]
    return PluginSet(
        enabled=tuple(Plugin(name=name, weight=int(weight or 0)) for name, _, weight in parts),
        disabled=tuple(Plugin(name=name) for name in disabled.split()),
    )


@pytest.mark.parametrize(
    ("defaults", "custom", "expected"),
    [
        ("A B:2", plugin_set(), "A B:2"),
        ("A B:2", plugin_set("C"), "A B:2 C"),
        ("A B:2 C", plugin_set("B:5"), "A B:5 C"),
        ("A B C", plugin_set(disabled="B"), "A C"),
        ("A B C", plugin_set("C A", "*"), "C A"),
        ("A B", plugin_set("B:4", "B"), "A B:4"),
        ("A", plugin_set("C C"), "A C C"),
    ],
    ids=[
        "nothing custom",
        "an addition comes last",
        "a default keeps its position and takes the new weight",
        "a default is dropped",
        "all defaults are dropped and the order is the profile's",
        "dropped and added again moves to the end",
        "duplicates survive for the framework to refuse",
    ],
)
def test_plugin_sets_merge(defaults, custom, expected):
    assert merge(plugin_set(defaults), custom).enabled == plugin_set(expected).enabled


def test_the_default_plugins_run_in_upstreams_order():
    names = [plugin.name for plugin in default_plugins(FeatureGates()).multi_point.enabled]
    assert names.index("DynamicResources") == names.index("DefaultPreemption") - 1
    assert names[-1] == "NodeDeclaredFeatures"
    assert "GangScheduling" not in names


def test_a_gate_adds_its_plugins():
    gates = FeatureGates(
        {"GenericWorkload": True, "GangScheduling": True, "TopologyAwareWorkloadScheduling": True}
    )
    names = [plugin.name for plugin in default_plugins(gates).multi_point.enabled]
    assert names[-3:] == ["GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"]


def test_a_single_profile_is_called_default_scheduler():
    assert default_configuration().profiles[0].scheduler_name == "default-scheduler"


def test_a_profile_keeps_its_name_and_gets_the_missing_args():
    profile = Profile(scheduler_name="gpu", plugins=Plugins(multi_point=plugin_set(disabled="VolumeBinding")))
    done = complete(KubeSchedulerConfiguration(profiles=(profile,)), FeatureGates()).profiles[0]
    assert done.scheduler_name == "gpu"
    assert done.args("VolumeBinding") is None
    assert done.args("NodeAffinity") is not None


def test_timeouts_of_dynamic_resources_depend_on_gates():
    on = default_configuration().profiles[0].args("DynamicResources")
    assert on == DynamicResourcesArgs(filter_timeout=10.0, binding_timeout=600.0)
    gates = FeatureGates({"DRASchedulerFilterTimeout": False, "DRADeviceBindingConditions": False})
    assert default_configuration(gates).profiles[0].args("DynamicResources") == DynamicResourcesArgs()


def test_storage_capacity_scoring_gets_a_shape_with_its_gate():
    args = (
        default_configuration(FeatureGates({"StorageCapacityScoring": True}))
        .profiles[0]
        .args("VolumeBinding")
    )
    assert isinstance(args, VolumeBindingArgs)
    assert [(point.utilization, point.score) for point in args.shape] == [(0, 10), (100, 0)]


@pytest.mark.parametrize(
    ("profiling", "contention", "expected"),
    [(True, None, True), (False, None, False), (False, True, True), (True, False, False)],
)
def test_contention_profiling_follows_profiling_unless_it_is_chosen(profiling, contention, expected):
    config = KubeSchedulerConfiguration(enable_profiling=profiling, enable_contention_profiling=contention)
    assert complete(config, FeatureGates()).enable_contention_profiling is expected
