"""Containers and their statuses: what they ask for, and what they were given."""

from __future__ import annotations

import msgspec

from kubesched.api.base import Quantities, Value


class ContainerPort(Value, frozen=True, gc=False):
    """`ports[]` of a container."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""
    name: str = ""


class ResourceClaimRef(Value, frozen=True, gc=False):
    """`resources.claims[]`: which of the pod's claims a container uses."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Value, frozen=True):
    """Requests and limits of a container or a pod."""

    requests: Quantities = msgspec.field(default_factory=dict)
    limits: Quantities = msgspec.field(default_factory=dict)
    claims: tuple[ResourceClaimRef, ...] = ()


class ContainerRestartRule(Value, frozen=True, gc=False):
    """`restartPolicyRules[]` of a container."""

    action: str = ""


class Container(Value, frozen=True):
    """`spec.containers[]` and `spec.initContainers[]`."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()

    @property
    def is_sidecar(self) -> bool:
        """An init container that keeps running (restartPolicy Always)."""
        return self.restart_policy == "Always"


class ContainerStatus(Value, frozen=True):
    """`status.containerStatuses[]`: resources as allocated and as in force, for in-place resize."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities = msgspec.field(default_factory=dict)
