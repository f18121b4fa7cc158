"""What can be switched: a configuration each, and the features of cases in which it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Config = dict[str, Any]
SECOND = "second-scheduler"
GPU = "nvidia.com/gpu"
ZONE = "topology.kubernetes.io/zone"

#: Every default plugin that a scheduler can do without, and where it shows that it is gone.
_DISPENSABLE = {
    "SchedulingGates": "+gates,taints",
    "NodeUnschedulable": "+unschedulable,taints",
    "NodeName": "+names,taints",
    "TaintToleration": "+taints,spread",
    "NodeAffinity": "+nodeaffinity,+names,spread",
    "NodePorts": "+ports,taints",
    "NodeResourcesFit": "+resources,taints",
    "VolumeRestrictions": "+volumes,namespaces",
    "NodeVolumeLimits": "+volumes,namespaces",
    "VolumeBinding": "+volumes,namespaces",
    "VolumeZone": "+volumes,namespaces",
    "PodTopologySpread": "+spread,workloads,taints",
    "InterPodAffinity": "+podaffinity,namespaces",
    "DynamicResources": "preemption",
    "DefaultPreemption": "preemption",
    "NodeResourcesBalancedAllocation": "+resources,taints",
    "ImageLocality": "+images,resources",
    "NodeDeclaredFeatures": "resources,taints",
}
_WEIGHTS = {
    "TaintToleration": 7,
    "NodeAffinity": 1,
    "NodeResourcesFit": 3,
    "PodTopologySpread": 5,
    "InterPodAffinity": 4,
    "NodeResourcesBalancedAllocation": 9,
    "ImageLocality": 6,
}


@dataclass(frozen=True)
class Switch:
    """One configuration; `profiles` has pods ask for the second profile, too."""

    name: str
    config: Config
    features: str
    profiles: bool = False


def switches() -> list[Switch]:
    """All switches, in the order in which they are tried."""
    return [
        *_fit(),
        *_arguments(),
        *_weights(),
        *_points(),
        _two_profiles(),
        *(_without(plugin, features) for plugin, features in _DISPENSABLE.items()),
    ]


def configuration(*profiles: Config) -> Config:
    """A KubeSchedulerConfiguration of these profiles."""
    version = "kubescheduler.config.k8s.io/v1"
    return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": list(profiles)}


def _args(name: str, plugin: str, features: str, **args: object) -> Switch:
    return Switch(name, configuration({"pluginConfig": [{"name": plugin, "args": args}]}), features)


def _fit() -> list[Switch]:
    """The scoring strategies of NodeResourcesFit, and the resources that it does not look at."""
    features = "+resources,images,taints,spread,workloads"
    weighted = [{"name": "cpu", "weight": 5}, {"name": "memory", "weight": 1}, {"name": GPU, "weight": 3}]
    plain = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    shapes = {
        "rising": [(0, 0), (100, 10)],
        "falling": [(0, 10), (100, 0)],
        "winding": [(0, 5), (20, 0), (55, 10), (100, 3)],
    }
    made = [
        _args(
            f"fit-{kind.lower()}-{name}", "NodeResourcesFit", features,
            scoringStrategy={"type": kind, "resources": resources},
        )
        for kind in ("LeastAllocated", "MostAllocated")
        for name, resources in (("plain", plain), ("weighted", weighted))
    ]  # fmt: skip
    for name, points in shapes.items():
        shape = [{"utilization": at, "score": score} for at, score in points]
        strategy = {
            "type": "RequestedToCapacityRatio",
            "resources": weighted,
            "requestedToCapacityRatio": {"shape": shape},
        }
        made.append(_args(f"fit-ratio-{name}", "NodeResourcesFit", features, scoringStrategy=strategy))
    made.append(_args("fit-ignored", "NodeResourcesFit", features, ignoredResources=["hugepages-2Mi", GPU]))
    made.append(
        _args("fit-ignored-group", "NodeResourcesFit", features, ignoredResourceGroups=["nvidia.com"])
    )
    made.append(_args("balanced-gpu", "NodeResourcesBalancedAllocation", features, resources=[
        {"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}, {"name": GPU, "weight": 1},
    ]))  # fmt: skip
    return made


def _arguments() -> list[Switch]:
    """Arguments of the other plugins."""
    spread, pods = "+workloads,spread,taints,namespaces", "+podaffinity,namespaces,taints"
    fast = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}]}
    soft = [{"weight": 30, "preference": fast}]
    hard = {"nodeSelectorTerms": [fast, {"matchExpressions": [{"key": "accelerator", "operator": "Exists"}]}]}
    constraints = [
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"},
        {"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"},
    ]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    return [
        _args("added-affinity", "NodeAffinity", "nodeaffinity,taints,spread", addedAffinity={required: hard}),
        _args("added-wish", "NodeAffinity", "nodeaffinity,taints,images", addedAffinity={preferred: soft}),
        _args(
            "spread-list", "PodTopologySpread", spread,
            defaultingType="List", defaultConstraints=constraints,
        ),
        _args("spread-list-empty", "PodTopologySpread", spread, defaultingType="List"),
        _args("spread-system", "PodTopologySpread", spread, defaultingType="System"),
        _args("affinity-weight-0", "InterPodAffinity", pods, hardPodAffinityWeight=0),
        _args("affinity-weight-100", "InterPodAffinity", pods, hardPodAffinityWeight=100),
        _args(
            "affinity-ignore-existing", "InterPodAffinity", pods, ignorePreferredTermsOfExistingPods=True
        ),
    ]  # fmt: skip


def _weights() -> list[Switch]:
    """Other weights: all at once, then one by one."""
    features = "taints,nodeaffinity,resources,spread,workloads,podaffinity,images"
    everyone = [{"name": name, "weight": weight} for name, weight in _WEIGHTS.items()]
    made = [Switch("weights", configuration({"plugins": {"multiPoint": {"enabled": everyone}}}), features)]
    for one in everyone:
        heavy = {**one, "weight": 40}
        config = configuration({"plugins": {"multiPoint": {"enabled": [heavy]}}})
        made.append(Switch(f"weight-{one['name']}", config, features))
    return made


def _points() -> list[Switch]:
    """Plugins switched off at one extension point only, or all scores but one."""
    features = "taints,resources,spread,podaffinity,images,nodeaffinity"
    off = {
        "filter-off": {"filter": {"disabled": [{"name": "TaintToleration"}]}},
        "score-off": {"score": {"disabled": [{"name": "InterPodAffinity"}, {"name": "TaintToleration"}]}},
        "one-score": {
            "score": {
                "disabled": [{"name": "*"}],
                "enabled": [{"name": "NodeResourcesFit", "weight": 2}],
            }
        },
    }
    return [Switch(name, configuration({"plugins": plugins}), features) for name, plugins in off.items()]


def _two_profiles() -> Switch:
    """Two schedulers in one: the second packs, and minds no pod."""
    packing = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    second = {
        "schedulerName": SECOND,
        "plugins": {"multiPoint": {"disabled": [{"name": "InterPodAffinity"}]}},
        "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": packing}}],
    }
    first = {"schedulerName": "default-scheduler"}
    features = "resources,podaffinity,taints,crowds,priorities"
    return Switch("two-profiles", configuration(first, second), features, profiles=True)


def _without(plugin: str, features: str) -> Switch:
    config = configuration({"plugins": {"multiPoint": {"disabled": [{"name": plugin}]}}})
    return Switch(f"without-{plugin}", config, features)
