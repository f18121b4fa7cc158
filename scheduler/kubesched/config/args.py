"""Arguments of the in-tree plugins, with upstream's defaults.

Follows `k8s.io/kube-scheduler/config/v1/types_pluginargs.go` and `pkg/scheduler/apis/config/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NewType, TypeAlias

import msgspec

from kubesched.api.affinity import NodeAffinity, TopologySpreadConstraint

Seconds = NewType("Seconds", float)
"""A duration: a file writes "1m30s", the plugin gets seconds."""

LEAST_ALLOCATED = "LeastAllocated"
MOST_ALLOCATED = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"


class PluginArgs(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of all plugin arguments: an immutable record whose fields are written in camelCase in a file.

    A file may state `kind`: the name of the class, which upstream makes of the plugin's name and "Args".
    Types, unknown and missing fields are checked with line and column when a file is read; `problems` adds
    rules of the plugin's own.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401 - msgspec's options, handed on
        """Name the kind after the class, unless it states another."""
        super().__init_subclass__(**kwargs)
        if "kind" not in cls.__dict__:
            cls.kind = cls.__name__

    def problems(self) -> Iterable[tuple[str, str]]:
        """What is wrong with the values: (field as the file names it, message) each; nothing by default."""
        return ()


class ResourceSpec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A resource and its weight; a weight of 0 means 1."""

    name: str
    weight: int = 1


class UtilizationShapePoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One point of a score function: utilization 0..100 gives score 0..10."""

    utilization: int
    score: int


DEFAULT_RESOURCES = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


class RequestedToCapacityRatio(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The shape of the score function for strategy RequestedToCapacityRatio."""

    omit: ClassVar[frozenset[str]] = frozenset({"shape"})

    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How NodeResourcesFit turns requests and capacity into a score, and over which resources.

    Whoever gives a strategy has to give its type, too.
    """

    type: str = ""
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES
    requested_to_capacity_ratio: RequestedToCapacityRatio | None = None


class DefaultPreemptionArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """How many candidate nodes preemption dry-runs: max(percentage of the nodes, absolute)."""

    kind: ClassVar[str] = "DefaultPreemptionArgs"

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


class InterPodAffinityArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """How much existing pods' affinity towards the incoming pod counts."""

    kind: ClassVar[str] = "InterPodAffinityArgs"

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeResourcesFitArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """Which resources are not checked, and how nodes are scored."""

    kind: ClassVar[str] = "NodeResourcesFitArgs"
    omit: ClassVar[frozenset[str]] = frozenset({"ignoredResources", "ignoredResourceGroups"})

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type=LEAST_ALLOCATED)


class PodTopologySpreadArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """The constraints of pods that state none: Kubernetes' own ("System") or the list given here ("List")."""

    kind: ClassVar[str] = "PodTopologySpreadArgs"
    omit: ClassVar[frozenset[str]] = frozenset({"defaultConstraints"})

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"


class NodeResourcesBalancedAllocationArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """The resources whose utilization is to be balanced."""

    kind: ClassVar[str] = "NodeResourcesBalancedAllocationArgs"

    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


class VolumeBindingArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """How long binding waits for volumes, and how storage capacity is scored."""

    kind: ClassVar[str] = "VolumeBindingArgs"
    omit: ClassVar[frozenset[str]] = frozenset({"shape"})

    bind_timeout_seconds: int = 600
    shape: tuple[UtilizationShapePoint, ...] = ()


class NodeAffinityArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """An affinity that all pods get in addition to their own."""

    kind: ClassVar[str] = "NodeAffinityArgs"

    added_affinity: NodeAffinity | None = None


class DynamicResourcesArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    """How long filtering one node, and waiting for device binding conditions, may take."""

    kind: ClassVar[str] = "DynamicResourcesArgs"

    filter_timeout: Seconds | None = None
    binding_timeout: Seconds | None = None


ArgsType: TypeAlias = Callable[[str], type[PluginArgs] | None]
"""Tells the type of a plugin's arguments by the plugin's name; None: they stay a plain mapping."""

# Plugin name: the type of its arguments.
ARGS: dict[str, type[PluginArgs]] = {
    args.kind.removesuffix("Args"): args
    for args in (
        DefaultPreemptionArgs,
        DynamicResourcesArgs,
        InterPodAffinityArgs,
        NodeAffinityArgs,
        NodeResourcesBalancedAllocationArgs,
        NodeResourcesFitArgs,
        PodTopologySpreadArgs,
        VolumeBindingArgs,
    )
}
