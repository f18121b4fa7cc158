"""Every in-tree plugin by the name that configurations use."""

from __future__ import annotations

from kubesched.framework.handle import Factory, Handle
from kubesched.framework.interface import Plugin
from kubesched.framework.registry import Registry, merge, out_of_tree
from kubesched.plugins import (
    default_binder,
    default_preemption,
    image_locality,
    node_affinity,
    node_declared_features,
    node_ports,
    node_unschedulable,
    taint_toleration,
)
from kubesched.plugins.dynamicresources import plugin as dynamicresources
from kubesched.plugins.interpodaffinity import plugin as interpodaffinity
from kubesched.plugins.node_name import NodeName
from kubesched.plugins.noderesources import balanced_allocation, fit
from kubesched.plugins.podtopologyspread import plugin as podtopologyspread
from kubesched.plugins.priority_sort import PrioritySort
from kubesched.plugins.scheduling_gates import SchedulingGates
from kubesched.plugins.volumes import limits, restrictions, zone
from kubesched.plugins.volumes.binding import plugin as volumebinding


def _plain(plugin: type[Plugin]) -> Factory:
    """A plugin that takes neither arguments nor anything of the handle."""

    def build(_args: object, _handle: Handle) -> Plugin:
        return plugin()

    return build


IN_TREE: dict[str, Factory] = {
    "DefaultBinder": default_binder.build,
    "DefaultPreemption": default_preemption.build,
    "DynamicResources": dynamicresources.build,
    "ImageLocality": image_locality.build,
    "InterPodAffinity": interpodaffinity.build,
    "NodeAffinity": node_affinity.build,
    "NodeDeclaredFeatures": node_declared_features.build,
    "NodeName": _plain(NodeName),
    "NodePorts": node_ports.build,
    "NodeResourcesBalancedAllocation": balanced_allocation.build,
    "NodeResourcesFit": fit.build,
    "NodeUnschedulable": node_unschedulable.build,
    "NodeVolumeLimits": limits.build,
    "PodTopologySpread": podtopologyspread.build,
    "PrioritySort": _plain(PrioritySort),
    "SchedulingGates": _plain(SchedulingGates),
    "TaintToleration": taint_toleration.build,
    "VolumeBinding": volumebinding.build,
    "VolumeRestrictions": restrictions.build,
    "VolumeZone": zone.build,
}
ALPHA = frozenset({"GangScheduling", "PodGroupPodsCount", "TopologyPlacementGenerator"})
"""Plugins behind alpha gates of 1.36 that are not built."""


def registry() -> Registry:
    """The in-tree plugins and those that installed packages offer."""
    return Registry(merge(IN_TREE, out_of_tree()), not_built=ALPHA)
