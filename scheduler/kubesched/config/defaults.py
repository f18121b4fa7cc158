"""The default plugins and how a profile's own sets merge into them; defaults that depend on other fields.

Follows `pkg/scheduler/apis/config/v1/default_plugins.go` and `defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from kubesched.config.args import (
    ARGS,
    DEFAULT_RESOURCES,
    DynamicResourcesArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    ResourceSpec,
    Seconds,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from kubesched.config.gates import FeatureGates
from kubesched.config.types import (
    DEFAULT_SCHEDULER_NAME,
    ClientConnection,
    KubeSchedulerConfiguration,
    LeaderElection,
    Plugin,
    PluginConfig,
    Plugins,
    PluginSet,
    Profile,
    RawArgs,
)

Section = TypeVar("Section", LeaderElection, ClientConnection)

# Every plugin that upstream enables by default or behind a gate, in order, with its weight.
_DEFAULT_WEIGHTS: dict[str, int] = {
    "SchedulingGates": 0,
    "PrioritySort": 0,
    "NodeUnschedulable": 0,
    "NodeName": 0,
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodePorts": 0,
    "NodeResourcesFit": 1,
    "VolumeRestrictions": 0,
    "NodeVolumeLimits": 0,
    "VolumeBinding": 0,
    "VolumeZone": 0,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,  # before DefaultPreemption: rather free an idle claim than evict a pod
    "DefaultPreemption": 0,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "DefaultBinder": 0,
    "NodeDeclaredFeatures": 0,
    "GangScheduling": 0,
    "TopologyPlacementGenerator": 0,
    "PodGroupPodsCount": 1,
}
_GATED = {
    "NodeDeclaredFeatures": "NodeDeclaredFeatures",
    "DynamicResources": "DynamicResourceAllocation",
    "GangScheduling": "GangScheduling",
    "TopologyPlacementGenerator": "TopologyAwareWorkloadScheduling",
    "PodGroupPodsCount": "TopologyAwareWorkloadScheduling",
}

_DEFAULT_SHAPE = (
    UtilizationShapePoint(utilization=0, score=10),
    UtilizationShapePoint(utilization=100, score=0),
)

IN_TREE = frozenset(_DEFAULT_WEIGHTS)
EXTENSION_POINTS = tuple(name for name in Plugins.__struct_fields__ if name != "multi_point")


def default_plugins(gates: FeatureGates) -> Plugins:
    """The default profile's plugins, all through MultiPoint, in the order in which they run."""
    enabled = tuple(
        Plugin(name=name, weight=weight)
        for name, weight in _DEFAULT_WEIGHTS.items()
        if name not in _GATED or gates.enabled(_GATED[name])
    )
    return Plugins(multi_point=PluginSet(enabled=enabled))


def merge(defaults: PluginSet, custom: PluginSet) -> PluginSet:
    """What one extension point runs: the defaults that stay, in place, then what the profile adds.

    A default that the profile enables again keeps its position and takes the profile's weight. Following
    upstream, `*` among the disabled drops every default, and duplicates survive for `expand` to refuse.
    """
    disabled = custom.disabled + defaults.disabled
    names = {plugin.name for plugin in disabled}
    chosen = {plugin.name: index for index, plugin in enumerate(custom.enabled)}
    replaced: set[int] = set()
    enabled: list[Plugin] = []
    for plugin in () if "*" in names else defaults.enabled:
        if plugin.name in names:
            continue
        if plugin.name in chosen:
            replaced.add(chosen[plugin.name])
            enabled.append(custom.enabled[chosen[plugin.name]])
        else:
            enabled.append(plugin)
    enabled += [plugin for index, plugin in enumerate(custom.enabled) if index not in replaced]
    return PluginSet(enabled=tuple(enabled), disabled=tuple(Plugin(name=plugin.name) for plugin in disabled))


def complete(config: KubeSchedulerConfiguration, gates: FeatureGates) -> KubeSchedulerConfiguration:
    """The configuration with everything decided: no profile, plugin set or argument left open."""
    profiles = config.profiles or (Profile(),)
    if len(profiles) == 1 and not profiles[0].scheduler_name:
        profiles = (msgspec.structs.replace(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    return msgspec.structs.replace(
        config,
        profiles=tuple(_complete_profile(profile, gates) for profile in profiles),
        leader_election=_nonzero(config.leader_election, LeaderElection()),
        client_connection=_nonzero(config.client_connection, ClientConnection()),
        enable_contention_profiling=(
            config.enable_profiling
            if config.enable_contention_profiling is None
            else config.enable_contention_profiling
        ),
    )


def default_configuration(gates: FeatureGates | None = None) -> KubeSchedulerConfiguration:
    """What kube-scheduler runs with when it is given no file."""
    return complete(KubeSchedulerConfiguration(), gates or FeatureGates())


def _complete_profile(profile: Profile, gates: FeatureGates) -> Profile:
    defaults = default_plugins(gates)
    plugins = Plugins(
        **{
            point: merge(getattr(defaults, point), getattr(profile.plugins, point))
            for point in Plugins.__struct_fields__
        }
    )
    configured = tuple(
        msgspec.structs.replace(item, args=_as_raw(_complete_args(item.name, item.args, gates)))
        for item in profile.plugin_config
    )
    names = {item.name for item in configured}
    used = {plugin.name for point in Plugins.__struct_fields__ for plugin in getattr(plugins, point).enabled}
    added = tuple(
        PluginConfig(name=name, args=_as_raw(_complete_args(name, None, gates)))
        for name in sorted(used - names)
        if name in ARGS
    )
    return msgspec.structs.replace(profile, plugins=plugins, plugin_config=configured + added)


def _complete_args(name: str, args: object, gates: FeatureGates) -> object:
    """Arguments with the defaults that depend on gates or on zero meaning "not set"."""
    if args is None:
        if name not in ARGS:
            return None
        args = ARGS[name]()
    completed = args
    if isinstance(args, VolumeBindingArgs) and not args.shape and gates.enabled("StorageCapacityScoring"):
        points = (
            UtilizationShapePoint(utilization=0, score=10),
            UtilizationShapePoint(utilization=100, score=0),
        )
        completed = msgspec.structs.replace(args, shape=points)
    elif isinstance(args, DynamicResourcesArgs):
        completed = _dynamic_resources(args, gates)
    elif isinstance(args, NodeResourcesBalancedAllocationArgs):
        completed = msgspec.structs.replace(args, resources=_weighted(args.resources))
    elif isinstance(args, NodeResourcesFitArgs):
        strategy = args.scoring_strategy
        strategy = msgspec.structs.replace(strategy, resources=_weighted(strategy.resources))
        completed = msgspec.structs.replace(args, scoring_strategy=strategy)
    return completed


def _dynamic_resources(args: DynamicResourcesArgs, gates: FeatureGates) -> PluginArgs:
    filter_timeout, binding_timeout = args.filter_timeout, args.binding_timeout
    if filter_timeout is None and gates.enabled("DRASchedulerFilterTimeout"):
        filter_timeout = Seconds(10.0)
    conditions = gates.enabled("DRADeviceBindingConditions") and gates.enabled("DRAResourceClaimDeviceStatus")
    if binding_timeout is None and conditions:
        binding_timeout = Seconds(600.0)
    return DynamicResourcesArgs(filter_timeout=filter_timeout, binding_timeout=binding_timeout)


def _weighted(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    """No resources means the default ones; a weight of 0 means 1."""
    return tuple(
        msgspec.structs.replace(item, weight=item.weight or 1) for item in resources or DEFAULT_RESOURCES
    )


def _nonzero(section: Section, defaults: Section) -> Section:
    """Zero and empty mean "not set" in these sections, except for booleans and names of files and types."""
    keep = {"leader_elect", "kubeconfig", "accept_content_types"}
    chosen: Mapping[str, object] = {
        name: getattr(defaults, name)
        for name in section.__struct_fields__
        if name not in keep and not getattr(section, name)
    }
    return msgspec.structs.replace(section, **chosen)


def _as_raw(args: object) -> RawArgs | None:
    return None if args is None else RawArgs(args)
