"""Waiting pods are found by the plugin that rejected them, and nothing of them is left behind."""

from __future__ import annotations

from queue_world import PROFILE, a_pod

from kubesched.queue.entry import Entry
from kubesched.queue.unschedulable import UnschedulablePods


def an_entry(name: str, *plugins: str) -> Entry:
    return Entry(f"uid-{name}", a_pod(name), 0.0, 0, unschedulable_plugins=frozenset(plugins))


def names(entries) -> list[str]:
    return [entry.pod.name for entry in entries]


def test_pods_are_found_by_any_of_their_rejectors_once() -> None:
    """A pod that two interested plugins rejected is looked at once."""
    pods = UnschedulablePods()
    for entry in (an_entry("a", "Fit"), an_entry("b", "Fit", "Spread"), an_entry("c", "Spread")):
        pods.push(entry)
    assert names(pods.rejected_by(PROFILE, ["Fit", "Spread"])) == ["a", "b", "c"]
    assert names(pods.rejected_by(PROFILE, ["Spread"])) == ["b", "c"]
    assert names(pods.rejected_by(PROFILE, ["Ports"])) == []


def test_profiles_are_apart() -> None:
    """Another profile's plugin of the same name does not see the pod."""
    pods = UnschedulablePods()
    pods.push(an_entry("a", "Fit"))
    assert pods.rejected_by("other-scheduler", ["Fit"]) == []


def test_pending_plugins_count_as_rejectors() -> None:
    """A pod that only waits for a plugin is found by that plugin's events."""
    pods, entry = UnschedulablePods(), an_entry("a")
    entry.pending_plugins = frozenset({"Permit"})
    pods.push(entry)
    assert names(pods.rejected_by(PROFILE, ["Permit"])) == ["a"]


def test_pushing_again_indexes_anew() -> None:
    """A pod that a gate now holds is found by the gate too, and still counts once."""
    pods, entry = UnschedulablePods(), an_entry("a", "Fit")
    pods.push(entry)
    entry.unschedulable_plugins = frozenset({"Gate"})
    pods.push(entry)
    assert len(pods) == 1
    assert names(pods.rejected_by(PROFILE, ["Fit"])) == []
    assert names(pods.rejected_by(PROFILE, ["Gate"])) == ["a"]


def test_removal_leaves_nothing() -> None:
    """Neither the pods nor the index keep anything, also if the rejectors changed meanwhile."""
    pods, entry = UnschedulablePods(), an_entry("a", "Fit")
    pods.push(entry)
    entry.unschedulable_plugins = frozenset({"Gate"})
    assert pods.remove("uid-a") is entry
    assert pods.remove("uid-a") is None
    assert (list(pods), pods._by_rejector, pods._indexed) == ([], {}, {})
