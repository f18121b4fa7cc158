"""Pods, and what is derived from them once and kept with them."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import msgspec

from kubesched.api.affinity import Affinity, TopologySpreadConstraint
from kubesched.api.asked import Asked, asked
from kubesched.api.base import Object, Quantities, Value, derived, timestamp
from kubesched.api.container import Container, ContainerStatus, ResourceRequirements
from kubesched.api.taints import Toleration
from kubesched.api.volumes import Volume


class PodSchedulingGate(Value, frozen=True, gc=False):
    """`spec.schedulingGates[]`."""

    name: str = ""


class PodResourceClaim(Value, frozen=True, gc=False):
    """`spec.resourceClaims[]`."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodCondition(Value, frozen=True, gc=False):
    """`status.conditions[]` of a pod."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_probe_time: str | None = None
    observed_generation: int = 0


class PodResourceClaimStatus(Value, frozen=True, gc=False):
    """`status.resourceClaimStatuses[]`: the claim that was made for the pod."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Value, frozen=True, gc=False):
    """Which request of the generated claim stands for which container's extended resource."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Value, frozen=True):
    """`status.extendedResourceClaimStatus`: the claim made for extended resources."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class PodSpec(Value, frozen=True):
    """`spec` of a pod."""

    node_name: str = ""
    scheduler_name: str = "default-scheduler"
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    node_selector: dict[str, str] = msgspec.field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities = msgspec.field(default_factory=dict)
    resources: ResourceRequirements | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    host_network: bool = False
    host_users: bool | None = None
    termination_grace_period_seconds: int | None = None


class PodStatus(Value, frozen=True):
    """`status` of a pod."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities = msgspec.field(default_factory=dict)
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    qos_class: str = msgspec.field(default="", name="qosClass")


class HostPort(NamedTuple):
    """A port of the node that a pod occupies; `ip` is 0.0.0.0 for every address."""

    ip: str
    protocol: str
    port: int


class Pod(Object, frozen=True):
    """A pod. What follows from it is worked out at most once and kept with the object."""

    kind: ClassVar[str] = "Pod"
    api_version: ClassVar[str] = "v1"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @derived
    def uid(self) -> str:
        """The pod's UID; its key where a hand-written pod has none."""
        return self.metadata.uid or self.key

    @derived
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def node_name(self) -> str:
        """The node the pod is bound to, or empty."""
        return self.spec.node_name

    @property
    def nominated_node_name(self) -> str:
        """The node the pod is nominated to according to the API, or empty."""
        return self.status.nominated_node_name

    @property
    def scheduler_name(self) -> str:
        """The profile that is to place the pod."""
        return self.spec.scheduler_name

    @property
    def priority(self) -> int:
        """The pod's priority, 0 where none is set."""
        return self.spec.priority or 0

    @derived
    def start_time(self) -> float | None:
        """When the kubelet took the pod up, in seconds since the epoch."""
        return timestamp(self.status.start_time)

    @derived
    def creation_time(self) -> float | None:
        """When the pod was made, in seconds since the epoch."""
        return timestamp(self.metadata.creation_timestamp)

    @property
    def is_terminating(self) -> bool:
        """Its deletion was asked for."""
        return self.metadata.deletion_timestamp is not None

    @property
    def is_terminal(self) -> bool:
        """It ran to its end: Succeeded or Failed."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def resize_is_infeasible(self) -> bool:
        """A resize was asked for that the node can never give."""
        for condition in self.status.conditions:
            if condition.type == "PodResizePending":
                return condition.reason == "Infeasible"
        return False

    @derived
    def asked(self) -> Asked:
        """What the pod asks for; pods that ask alike share it."""
        return asked(self)

    @property
    def requests(self) -> dict[str, int]:
        """What the pod takes from its node: cpu in milli, everything else in base units."""
        return self.asked.requests

    @property
    def nonzero_requests(self) -> tuple[int, int]:
        """(milli cpu, memory bytes) with defaults, as a node's books count the pod."""
        return self.asked.nonzero

    @derived
    def has_storage(self) -> bool:
        """Some volume has a source that plugins read; the token that every pod mounts has none."""
        return any(volume != Volume(name=volume.name) for volume in self.spec.volumes)

    @derived
    def host_ports(self) -> tuple[HostPort, ...]:
        """Ports of the node that the pod's containers and sidecars occupy, without repetition."""
        spec = self.spec
        running = (*(c for c in spec.init_containers if c.is_sidecar), *spec.containers)
        ports = [port for container in running for port in container.ports if port.host_port > 0]
        return tuple(
            dict.fromkeys(
                HostPort(port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)  # noqa: S104 - upstream's name for all addresses
                for port in ports
            )
        )

    def assigned_to(self, node_name: str) -> Pod:
        """Give the same pod as bound to the node; what was derived from it is kept."""
        moved = msgspec.structs.replace(self, spec=msgspec.structs.replace(self.spec, node_name=node_name))
        moved.__dict__.update(self.__dict__)
        return moved
