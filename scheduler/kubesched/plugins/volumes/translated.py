"""From which nodes a CSI driver reaches an in-tree volume: its own topology keys replace the in-tree ones.

Follows upstream `csi-translation-lib` (`plugins/in_tree_volume.go`, 1.36).
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from kubesched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.labels import Operator
from kubesched.api.objects import PersistentVolume
from kubesched.plugins.volumes.migration import AWS, BETA_ZONE, CINDER, GCE, ZONE, identity, plugin_of

_ZONE_KEYS = {
    GCE: "topology.gke.io/zone",
    AWS: "topology.ebs.csi.aws.com/zone",
    CINDER: "topology.cinder.csi.openstack.org/zone",
}
_REGION, _BETA_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
_Terms: TypeAlias = tuple[NodeSelectorTerm, ...]


def translated_affinity(volume: PersistentVolume) -> NodeSelector | None:
    """What the driver requires of a node: the volume's affinity with the driver's zone key.

    A volume whose affinity names no zones gets those of its label; other drivers keep the affinity as it is.
    Raises ValueError for a volume that cannot be translated.
    """
    identity(volume.spec, volume.labels)
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    key = _ZONE_KEYS.get(plugin_of(volume.spec) or "")
    if key is None:
        return required
    terms = required.node_selector_terms if required else ()
    zone, region = _keys(volume, terms)
    if _values(terms, zone):
        terms = _renamed(terms, zone, key)
    elif zones := sorted({part.strip() for part in volume.labels.get(zone, "").split("__")} - {""}):
        terms = _with(
            terms, NodeSelectorRequirement(key=key, operator=Operator.IN.value, values=tuple(zones))
        )
    if region == _BETA_REGION and _values(terms, region):
        terms = _renamed(terms, region, _REGION)
    return NodeSelector(node_selector_terms=terms) if terms or required else None


def _keys(volume: PersistentVolume, terms: _Terms) -> tuple[str, str]:
    """The zone and region keys in use: those of the affinity before those of the labels."""
    in_affinity = {expression.key for term in terms for expression in term.match_expressions}
    for present in (in_affinity, volume.labels):
        if ZONE in present:
            return ZONE, _REGION
        if BETA_ZONE in present:
            return BETA_ZONE, _BETA_REGION
    return ZONE, _REGION


def _values(terms: _Terms, key: str) -> set[str]:
    """What the terms say of the key; an expression without values, such as Exists, says nothing."""
    expressions = (expression for term in terms for expression in term.match_expressions)
    return {value for expression in expressions if expression.key == key for value in expression.values}


def _with(terms: _Terms, added: NodeSelectorRequirement) -> _Terms:
    """The terms, each with one more requirement; a term of its own where there is none."""
    return tuple(
        replace(term, match_expressions=(*term.match_expressions, added))
        for term in terms or (NodeSelectorTerm(),)
    )


def _renamed(terms: _Terms, old: str, new: str) -> _Terms:
    return tuple(
        replace(
            term,
            match_expressions=tuple(
                replace(expression, key=new) if expression.key == old else expression
                for expression in term.match_expressions
            ),
        )
        for term in terms
    )
