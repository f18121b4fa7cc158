"""Device classes, resource claims and slices, as far as scheduling without claims reads them."""

from __future__ import annotations

from typing import ClassVar

from kubesched.api.base import Object, Value


class DeviceClassSpec(Value, frozen=True):
    """`spec` of a device class."""

    extended_resource_name: str | None = None


class DeviceClass(Object, frozen=True):
    """A device class; it may stand for an extended resource."""

    kind: ClassVar[str] = "DeviceClass"
    api_version: ClassVar[str] = "resource.k8s.io/v1"

    spec: DeviceClassSpec = DeviceClassSpec()


class ResourceClaim(Object, frozen=True):
    """A claim on devices."""

    kind: ClassVar[str] = "ResourceClaim"
    api_version: ClassVar[str] = "resource.k8s.io/v1"


class ResourceSlicePool(Value, frozen=True, gc=False):
    """Which pool a slice belongs to."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(Value, frozen=True):
    """`spec` of a slice."""

    driver: str = ""
    node_name: str | None = None
    pool: ResourceSlicePool = ResourceSlicePool()


class ResourceSlice(Object, frozen=True):
    """Devices that a driver offers."""

    kind: ClassVar[str] = "ResourceSlice"
    api_version: ClassVar[str] = "resource.k8s.io/v1"

    spec: ResourceSliceSpec = ResourceSliceSpec()
