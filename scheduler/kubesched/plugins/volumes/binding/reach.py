"""From which nodes a volume can be reached, or be made, as one array over all nodes.

Follows upstream `CheckNodeAffinity` (component-helpers `storage/volume`), `MatchTopologySelectorTerms` and
`nodeHasAccess` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kubesched.api.affinity import NodeSelector
from kubesched.api.labels import compile_selector, requirement
from kubesched.api.nodeaffinity import Term, compile_terms
from kubesched.api.objects import CSINode, CSIStorageCapacity, PersistentVolume, StorageClass
from kubesched.plugins.node_terms import meets_labels
from kubesched.plugins.volumes.migration import is_translated, plugin_of
from kubesched.plugins.volumes.translated import translated_affinity

if TYPE_CHECKING:
    from kubesched.state import ClusterReader
    from kubesched.state.nodes import NodeColumns

Nodes: TypeAlias = NDArray[np.bool_]
"""Bool[N], by slot."""

_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def reach(nodes: NodeColumns, volume: PersistentVolume) -> Nodes:
    """The nodes that the volume's node affinity admits; one that cannot be read admits none."""
    affinity = volume.spec.node_affinity
    return _admitted(nodes, affinity.required if affinity else None)


def reach_bound(cluster: ClusterReader, volume: PersistentVolume, rows: NDArray[np.int32]) -> Nodes:
    """Bool[len(rows)]: like `reach`; where a CSI driver has taken over an in-tree disk, by its own terms.

    Raises ValueError when a driver has taken it over on one of these nodes and it cannot be translated.
    """
    admitted = reach(cluster.nodes, volume)[rows]
    plugin = plugin_of(volume.spec)
    if plugin is None or not is_translated(plugin):
        return admitted
    migrated = _migrated(cluster, plugin)[rows]
    if not migrated.any():
        return admitted
    try:
        translated = _admitted(cluster.nodes, translated_affinity(volume))[rows]
    except ValueError as error:
        raise ValueError(f"could not translate pv: {error}") from error
    return np.where(migrated, translated, admitted)


def _migrated(cluster: ClusterReader, plugin: str) -> Nodes:
    """The nodes that say that a driver has taken over the plugin's volumes."""
    migrated = np.zeros(cluster.nodes.capacity, np.bool_)
    for item in cluster.list("CSINode"):
        if isinstance(item, CSINode) and plugin in item.annotations.get(_MIGRATED, "").split(","):
            row = cluster.nodes.slot.get(item.name)
            if row is not None:
                migrated[row] = True
    return migrated


def allowed(nodes: NodeColumns, storage_class: StorageClass) -> Nodes:
    """The nodes in the topologies where the class provisions; all, if it names none."""
    terms = storage_class.allowed_topologies
    found = np.full(nodes.capacity, not terms, np.bool_)
    for term in terms:
        if not term.match_label_expressions:
            continue
        try:
            wanted = [requirement(e.key, "In", e.values) for e in term.match_label_expressions]
        except ValueError:
            continue
        found |= meets_labels(nodes, wanted)
    return found


def accessible(nodes: NodeColumns, capacity: CSIStorageCapacity) -> Nodes:
    """The nodes that reach the storage; none if it names no topology, or one that cannot be read."""
    if capacity.node_topology is None:
        return np.zeros(nodes.capacity, np.bool_)
    try:
        selector = compile_selector(capacity.node_topology)
    except ValueError:
        return np.zeros(nodes.capacity, np.bool_)
    return meets_labels(nodes, tuple(selector.requirements))


def _admitted(nodes: NodeColumns, required: NodeSelector | None) -> Nodes:
    if required is None:
        return np.ones(nodes.capacity, np.bool_)
    return _any(nodes, compile_terms(required))


def _any(nodes: NodeColumns, terms: Iterable[Term]) -> Nodes:
    """The nodes that meet one of the terms. Upstream asks about labels alone, so every field is empty."""
    found = np.zeros(nodes.capacity, np.bool_)
    for term in terms:
        if term.error is None and all(field.admits("") for field in term.fields):
            found |= meets_labels(nodes, term.labels)
    return found
