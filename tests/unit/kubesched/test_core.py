"""A core from a configuration."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from kubesched.clock import VirtualClock
from kubesched.config.defaults import complete, default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.config.types import KubeSchedulerConfiguration, Plugin, Plugins, PluginSet, Profile
from kubesched.core import CoreOptions, build_core
from kubesched.plugins.registry import registry
from kubesched.queue.entry import Place
from kubesched.testing.builders import pod


def core(config: KubeSchedulerConfiguration, **options):
    return build_core(CoreOptions(config, FeatureGates(), registry(), **options), VirtualClock(), Random(1))


def test_every_profile_is_a_framework_under_its_name():
    profiles = (Profile(scheduler_name="a"), Profile(scheduler_name="b", percentage_of_nodes_to_score=7))
    built = core(complete(KubeSchedulerConfiguration(profiles=profiles), FeatureGates()))
    assert set(built.profiles) == {"a", "b"}
    assert built.profiles["b"].percentage_of_nodes_to_score == 7


def test_the_configuration_reaches_queue_and_cycle():
    config = msgspec.structs.replace(default_configuration(), percentage_of_nodes_to_score=42)
    built = core(config)
    assert built.percentage_of_nodes_to_score == 42
    built.queue.add(pod("low").with_priority(1))
    built.queue.add(pod("high").with_priority(2))
    assert built.queue.pop(0).pod.name == "high"
    built.queue.add(pod("gated").gate("g"))
    assert built.queue.where(pod("gated").uid) is Place.GATED


def test_moves_in_the_queue_are_told():
    seen = []
    built = core(
        default_configuration(), on_move=lambda entry, place, event: seen.append((entry.pod.name, place))
    )
    built.queue.add(pod("a"))
    assert seen == [("a", Place.ACTIVE)]


def test_a_profile_without_a_binder_is_refused():
    plugins = Plugins(multi_point=PluginSet(disabled=(Plugin(name="DefaultBinder"),)))
    config = complete(KubeSchedulerConfiguration(profiles=(Profile(plugins=plugins),)), FeatureGates())
    with pytest.raises(ValueError, match="at least one bind plugin is needed"):
        core(config)
