"""MyPlugin by itself: no cluster, no other plugin."""

from __future__ import annotations

from kubesched.testing import Trial, WatchEvent, check_plugin, node, pod

from my_plugin.plugin import MyPlugin, MyPluginArgs

MAINTENANCE = "example.com/maintenance"


def test_it_keeps_to_the_contract() -> None:
    check_plugin(MyPlugin)


def test_a_node_in_maintenance_is_rejected() -> None:
    trial = Trial(MyPlugin, node("a"), node("b").label(MAINTENANCE))
    rejected = trial.rejected(pod("p"))
    assert {name: status.reasons for name, status in rejected.items()} == {
        "b": ("node(s) were in maintenance",)
    }


def test_the_label_can_be_configured() -> None:
    args = MyPluginArgs(maintenance_label="out")
    trial = Trial(MyPlugin, node("a").label("out"), node("b").label(MAINTENANCE), args=args)
    assert trial.rejected(pod("p")).keys() == {"a"}


def test_the_end_of_maintenance_wakes_the_pod() -> None:
    trial = Trial(MyPlugin, node("a").label(MAINTENANCE))
    assert trial.wakes(pod("p"), WatchEvent("MODIFIED", node("a")))
