"""The configuration of a scheduler under test is merged from its declaration, the test and a switch."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.schedulers.configuration import configuration, merge, scheduler_name, without

KUBECONFIG = Path("/run/kubeconfig")


def test_the_kubeconfig_and_no_leader_election_are_filled_in() -> None:
    """Everything else stays the scheduler's own default."""
    config = configuration({}, {}, KUBECONFIG)
    assert config == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "/run/kubeconfig"},
        "leaderElection": {"leaderElect": False},
    }


def test_a_test_wins_over_the_declaration_and_the_declaration_over_the_defaults() -> None:
    """Field by field."""
    declared = {"parallelism": 1, "leaderElection": {"leaderElect": True, "leaseDuration": "15s"}}
    config = configuration(declared, {"leaderElection": {"leaseDuration": "5s"}}, KUBECONFIG)
    assert config["parallelism"] == 1
    assert config["leaderElection"] == {"leaderElect": True, "leaseDuration": "5s"}


def test_profiles_are_merged_by_name_and_plugin_arguments_too() -> None:
    """Other lists are replaced."""
    base = {"profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "X", "args": {"p": 1}}]}]}
    patch = {
        "profiles": [
            {"schedulerName": "b"},
            {"schedulerName": "a", "pluginConfig": [{"name": "X", "args": {"q": [2]}}, {"name": "Y"}]},
        ]
    }
    assert merge(base, patch)["profiles"] == [
        {"schedulerName": "a", "pluginConfig": [{"name": "X", "args": {"p": 1, "q": [2]}}, {"name": "Y"}]},
        {"schedulerName": "b"},
    ]


def test_a_profile_without_a_name_is_the_default_one() -> None:
    """As for kube-scheduler."""
    merged = merge({"profiles": [{"schedulerName": "default-scheduler"}]}, {"profiles": [{"plugins": {}}]})
    assert merged["profiles"] == [{"schedulerName": "default-scheduler", "plugins": {}}]


@pytest.mark.parametrize("config", [{}, {"profiles": []}], ids=["no profiles", "an empty list"])
def test_a_plugin_is_disabled_in_the_default_profile(config: dict[str, object]) -> None:
    """Which has to be written out for that."""
    assert without(config, "X")["profiles"] == [
        {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"disabled": [{"name": "X"}]}}}
    ]


def test_a_plugin_is_disabled_at_every_point_of_every_profile() -> None:
    """Also where a profile enables it by name; what else it says stays."""
    config = {
        "profiles": [
            {
                "schedulerName": "a",
                "plugins": {
                    "score": {"enabled": [{"name": "X", "weight": 5}, {"name": "Y"}]},
                    "multiPoint": {"enabled": [{"name": "X"}], "disabled": [{"name": "Z"}]},
                },
            },
            {"schedulerName": "b"},
        ]
    }
    first, second = without(config, "X")["profiles"]
    assert first["plugins"] == {
        "score": {"enabled": [{"name": "Y"}]},
        "multiPoint": {"enabled": [], "disabled": [{"name": "Z"}, {"name": "X"}]},
    }
    assert second["plugins"] == {"multiPoint": {"disabled": [{"name": "X"}]}}
    assert config["profiles"][0]["plugins"]["score"]["enabled"][0]["name"] == "X"


def test_the_name_pods_ask_for_is_the_first_profiles() -> None:
    """Or the default."""
    assert scheduler_name({}) == "default-scheduler"
    assert scheduler_name({"profiles": [{"schedulerName": "mine"}]}) == "mine"
