"""The rules that plugin arguments must keep, in upstream's words.

Follows `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubesched.api.affinity import TopologySpreadConstraint
from kubesched.config import durations, names
from kubesched.config.args import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    REQUESTED_TO_CAPACITY_RATIO,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    ScoringStrategy,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from kubesched.config.gates import FeatureGates

Found = Iterator[tuple[str, str]]

_STRATEGIES = (LEAST_ALLOCATED, MOST_ALLOCATED, REQUESTED_TO_CAPACITY_RATIO)
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def validate_args(at: str, args: object, gates: FeatureGates) -> Found:
    """Everything wrong with one plugin's arguments; those of other packages state their own rules."""
    rules = _RULES.get(type(args))
    if rules is not None:
        yield from rules(at, args, gates)
    elif isinstance(args, PluginArgs):
        yield from ((f"{at}.{field}", message) for field, message in args.problems())


def _default_preemption(at: str, args: DefaultPreemptionArgs, _: FeatureGates) -> Found:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    if not 0 <= percentage <= 100:
        yield f"{at}.minCandidateNodesPercentage", _invalid(percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield f"{at}.minCandidateNodesAbsolute", _invalid(absolute, "not in valid range [0, inf)")
    if percentage == absolute == 0:
        for field, other in (
            ("minCandidateNodesPercentage", "minCandidateNodesAbsolute"),
            ("minCandidateNodesAbsolute", "minCandidateNodesPercentage"),
        ):
            yield f"{at}.{field}", _invalid(0, f"cannot be zero at the same time as {other}")


def _inter_pod_affinity(at: str, args: InterPodAffinityArgs, _: FeatureGates) -> Found:
    if not 0 <= args.hard_pod_affinity_weight <= 100:
        message = _invalid(args.hard_pod_affinity_weight, "not in valid range [0, 100]")
        yield f"{at}.hardPodAffinityWeight", message


def _topology_spread(at: str, args: PodTopologySpreadArgs, _: FeatureGates) -> Found:
    if args.defaulting_type not in {"System", "List"}:
        yield f"{at}.defaultingType", _unsupported(args.defaulting_type, ("System", "List"))
    elif args.defaulting_type == "System" and args.default_constraints:
        message = _invalid("System", "when .defaultConstraints are not empty")
        yield f"{at}.defaultingType", message
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(args.default_constraints):
        field = f"{at}.defaultConstraints[{index}]"
        yield from _constraint(field, constraint)
        key = (constraint.topology_key, constraint.when_unsatisfiable)
        if key in seen:
            yield field, f'Duplicate value: "{{{key[0]}, {key[1]}}}"'
        seen.add(key)


def _constraint(at: str, constraint: TopologySpreadConstraint) -> Found:
    if constraint.max_skew <= 0:
        yield f"{at}.maxSkew", _invalid(constraint.max_skew, "not in valid range (0, inf)")
    if not constraint.topology_key:
        yield f"{at}.topologyKey", "Required value: can not be empty"
    elif not names.is_qualified(constraint.topology_key):
        yield f"{at}.topologyKey", _invalid(constraint.topology_key, "must be a valid label key")
    if not constraint.when_unsatisfiable:
        yield f"{at}.whenUnsatisfiable", "Required value: can not be empty"
    elif constraint.when_unsatisfiable not in {"DoNotSchedule", "ScheduleAnyway"}:
        message = _unsupported(constraint.when_unsatisfiable, ("DoNotSchedule", "ScheduleAnyway"))
        yield f"{at}.whenUnsatisfiable", message
    if constraint.label_selector is not None:
        message = "Forbidden: constraint must not define a selector, as they deduced for each pod"
        yield f"{at}.labelSelector", message


def _shape(at: str, shape: tuple[UtilizationShapePoint, ...]) -> Found:
    if not shape:
        yield at, "Required value: at least one point must be specified"
    for index in range(1, len(shape)):
        if shape[index - 1].utilization >= shape[index].utilization:
            message = _invalid(shape[index].utilization, "values must be sorted in increasing order")
            yield f"{at}[{index}].utilization", message
            break
    for index, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            yield f"{at}[{index}].utilization", _invalid(point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= 10:
            yield f"{at}[{index}].score", _invalid(point.score, "not in valid range [0, 10]")


def _balanced(at: str, args: NodeResourcesBalancedAllocationArgs, _: FeatureGates) -> Found:
    seen: set[str] = set()
    for index, resource in enumerate(args.resources):
        if resource.name in seen:
            yield f"{at}.resources[{index}].name", f'Duplicate value: "{resource.name}"'
        seen.add(resource.name)
        if resource.weight != 1:
            yield f"{at}.resources[{index}].weight", _invalid(resource.weight, "must be 1")


def _fit(at: str, args: NodeResourcesFitArgs, _: FeatureGates) -> Found:
    for index, name in enumerate(args.ignored_resources):
        if not names.is_qualified(name):
            yield f"{at}.ignoredResources[{index}]", _invalid(name, "must be a qualified name")
    for index, group in enumerate(args.ignored_resource_groups):
        field = f"{at}.ignoredResourceGroups[{index}]"
        if "/" in group:
            yield field, _invalid(group, "resource group name can't contain '/'")
        elif not names.is_qualified(group):
            yield field, _invalid(group, "must be a qualified name")
    yield from _scoring_strategy(f"{at}.scoringStrategy", args.scoring_strategy)


def _scoring_strategy(field: str, strategy: ScoringStrategy) -> Found:
    if strategy.type not in _STRATEGIES:
        yield f"{field}.type", _unsupported(strategy.type, _STRATEGIES)
    for index, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            message = f"resource weight of {resource.name} not in valid range (0, 100]"
            yield f"{field}.resources[{index}].weight", _invalid(resource.weight, message)
    ratio, ratio_field = strategy.requested_to_capacity_ratio, f"{field}.requestedToCapacityRatio"
    if strategy.type != REQUESTED_TO_CAPACITY_RATIO:
        if ratio is not None:
            yield ratio_field, "Forbidden: must be nil when type is not RequestedToCapacityRatio"
    elif ratio is None:
        yield ratio_field, "Required value: must be specified when type is RequestedToCapacityRatio"
    else:
        yield from _shape(f"{ratio_field}.shape", ratio.shape)


def _volume_binding(at: str, args: VolumeBindingArgs, gates: FeatureGates) -> Found:
    if args.bind_timeout_seconds < 0:
        message = "invalid BindTimeoutSeconds, should not be a negative value"
        yield f"{at}.bindTimeoutSeconds", _invalid(args.bind_timeout_seconds, message)
    if gates.enabled("StorageCapacityScoring"):
        yield from _shape(f"{at}.shape", args.shape)
    elif args.shape:
        message = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        yield f"{at}.shape", f"Invalid value: {message}"


def _node_affinity(at: str, args: NodeAffinityArgs, _: FeatureGates) -> Found:
    affinity = args.added_affinity
    if affinity is None:
        return
    terms = []
    if affinity.required is not None:
        field = f"{at}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        required = affinity.required.node_selector_terms
        terms += [(f"{field}[{index}]", term) for index, term in enumerate(required)]
    field = f"{at}.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
    preferred = enumerate(affinity.preferred)
    terms += [(f"{field}[{index}].preference", item.preference) for index, item in preferred]
    for place, term in terms:
        for index, expression in enumerate(term.match_expressions):
            if expression.operator not in _OPERATORS:
                operator = _unsupported(expression.operator, _OPERATORS)
                yield f"{place}.matchExpressions[{index}].operator", operator


def _dynamic_resources(at: str, args: DynamicResourcesArgs, gates: FeatureGates) -> Found:
    if not gates.enabled("DRASchedulerFilterTimeout"):
        if args.filter_timeout is not None:
            yield f"{at}.filterTimeout", "Forbidden: DRASchedulingFilterTimeout feature gate is disabled"
    elif args.filter_timeout is not None and args.filter_timeout < 0:
        yield (
            f"{at}.filterTimeout",
            _invalid(durations.render(args.filter_timeout), "must be zero or positive"),
        )
    conditions = gates.enabled("DRADeviceBindingConditions") and gates.enabled("DRAResourceClaimDeviceStatus")
    if args.binding_timeout is None:
        return
    if not conditions:
        message = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
        yield f"{at}.bindingTimeout", f"Forbidden: {message}"
    elif args.binding_timeout < 1:
        yield (
            f"{at}.bindingTimeout",
            _invalid(durations.render(args.binding_timeout), "must be at least 1 second"),
        )


def _invalid(value: object, message: str) -> str:
    shown = f'"{value}"' if isinstance(value, str) else value
    return f"Invalid value: {shown}: {message}"


def _unsupported(value: str, known: tuple[str, ...]) -> str:
    listed = ", ".join(f'"{name}"' for name in known)
    return f'Unsupported value: "{value}": supported values: {listed}'


_RULES: dict[type, Callable[[str, Any, FeatureGates], Found]] = {
    DefaultPreemptionArgs: _default_preemption,
    DynamicResourcesArgs: _dynamic_resources,
    InterPodAffinityArgs: _inter_pod_affinity,
    NodeAffinityArgs: _node_affinity,
    NodeResourcesBalancedAllocationArgs: _balanced,
    NodeResourcesFitArgs: _fit,
    PodTopologySpreadArgs: _topology_spread,
    VolumeBindingArgs: _volume_binding,
}
