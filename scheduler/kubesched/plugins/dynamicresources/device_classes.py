"""Device classes that stand for extended resources.

Follows upstream `dynamicresources/extendeddynamicresources.go` and the feature DRAExtendedResource (1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubesched.api.objects import DeviceClass

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

_PREFIX = "deviceclass.resource.kubernetes.io/"


def implicit_resource(device_class: DeviceClass) -> str:
    """The extended resource that every device class stands for by its name."""
    return _PREFIX + device_class.name


def backs(cluster: ClusterReader, resource: str) -> bool:
    """Whether some device class stands for the resource, by its name or because it says so."""
    if resource.startswith(_PREFIX):
        return cluster.get("DeviceClass", resource.removeprefix(_PREFIX)) is not None
    return any(
        isinstance(item, DeviceClass) and item.spec.extended_resource_name == resource
        for item in cluster.list("DeviceClass")
    )
