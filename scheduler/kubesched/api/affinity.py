"""Affinity and spread constraints as the API stores them; what they mean, `nodeaffinity` and plugins know."""

from __future__ import annotations

import msgspec

from kubesched.api.base import Value
from kubesched.api.labels import LabelSelector

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeSelectorRequirement(Value, frozen=True):
    """`matchExpressions[]` or `matchFields[]` of a node selector term."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Value, frozen=True):
    """Requirements that must all hold; a term without any matches nothing."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Value, frozen=True):
    """Terms of which one must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Value, frozen=True):
    """A node selector term with a weight."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Value, frozen=True):
    """`spec.affinity.nodeAffinity`."""

    required: NodeSelector | None = msgspec.field(default=None, name=_REQUIRED)
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(default=(), name=_PREFERRED)


class PodAffinityTerm(Value, frozen=True):
    """Which pods, in which namespaces, seen from which topology."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Value, frozen=True):
    """A pod affinity term with a weight."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Value, frozen=True):
    """`spec.affinity.podAffinity` and `spec.affinity.podAntiAffinity`: the same shape."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(default=(), name=_REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(default=(), name=_PREFERRED)


class Affinity(Value, frozen=True):
    """`spec.affinity`."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Value, frozen=True):
    """`spec.topologySpreadConstraints[]`."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
