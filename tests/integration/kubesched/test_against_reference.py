"""kubesched and kube-scheduler on equal clusters say the same to the character."""

from __future__ import annotations

import pytest
from tests.integration.kubesched.objects import condition, events, pod, scheduled

from schedlab.cluster.nodes import parse_groups

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

NAMESPACE = "default"
ONLY = {"nodeSelector": {"kubernetes.io/hostname": "cpu-32-1"}}
SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "nope",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"a": "b"}},
        }
    ]
}
PENDING = {
    "too-big": pod("too-big", cpu="999"),
    "unmatched": pod("unmatched", nodeSelector={"disk": "ssd"}),
    "elsewhere": pod("elsewhere", nodeName=None, affinity={
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}}}),
    "spread": pod("spread", **SPREAD),
    "big-on-one": pod("big-on-one", cpu="33", **ONLY),
}  # fmt: skip


def verdicts(lab, which: str) -> dict[str, object]:
    """What a scheduler says about every pod, in conditions and events."""
    core = lab.core()
    core.patch_node("cpu-32-2", {"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}})
    scheduler = lab.start(which)
    core.create_namespaced_pod(NAMESPACE, pod("bound", **ONLY))
    assert scheduled(core, NAMESPACE, "bound") == "cpu-32-1"
    said: dict[str, object] = {"bound": events(core, NAMESPACE, "bound")}
    for name, body in PENDING.items():
        core.create_namespaced_pod(NAMESPACE, body)
        said[name] = (condition(core, NAMESPACE, name), events(core, NAMESPACE, name))
    assert scheduler.stop() == 1, "without leader election both exit 1"
    assert lab.refusals() == []
    return said


def test_conditions_and_events_are_the_references(labs):
    """Side by side on two control planes with equal nodes and pods."""
    nodes = parse_groups("cpu-32=3")
    reference = verdicts(labs(nodes=nodes, zones=3), "kube-scheduler")
    ours = verdicts(labs(nodes=nodes, zones=3), "kubesched")
    assert ours == reference
