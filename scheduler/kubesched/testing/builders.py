"""Pods and nodes in one line: `pod("a").cpu("1").tolerates("gpu")`, `node("n").gpu(8).taint("gpu")`.

What the builders give are API objects already: a `BuiltPod` is a `Pod`, and each method gives a new one with
one thing changed. `cluster(...)` holds some of them as the scheduler would.
"""

from __future__ import annotations

from typing import Self

from msgspec.structs import replace

from kubesched.api.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from kubesched.api.base import Object, ObjectMeta, OwnerReference
from kubesched.api.container import Container, ContainerPort, ResourceRequirements
from kubesched.api.labels import LabelSelector
from kubesched.api.node import ContainerImage, Node, NodeCondition, NodeStatus
from kubesched.api.pod import Pod, PodSchedulingGate, PodSpec, PodStatus
from kubesched.api.taints import NO_SCHEDULE, Taint, Toleration
from kubesched.api.volumes import PersistentVolumeClaimVolumeSource, Volume
from kubesched.api.workloads import Namespace
from kubesched.clock import VirtualClock
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent

GPU = "nvidia.com/gpu"
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


class _Built(Object, frozen=True):
    """What pods and nodes have in common."""

    def label(self, key: str, value: str = "") -> Self:
        """Add a label."""
        return self._meta(labels={**self.metadata.labels, key: value})

    def annotation(self, key: str, value: str = "") -> Self:
        """Add an annotation."""
        return self._meta(annotations={**self.metadata.annotations, key: value})

    def with_uid(self, uid: str) -> Self:
        """Be a particular object of that name."""
        return self._meta(uid=uid)

    def created(self, at: str) -> Self:
        """Set the creation timestamp (RFC 3339)."""
        return self._meta(creation_timestamp=at)

    def version(self, resource_version: str) -> Self:
        """Set the resource version."""
        return self._meta(resource_version=resource_version)

    def owned_by(self, kind: str, name: str, *, api_version: str = "apps/v1") -> Self:
        """Have a controller."""
        owner = OwnerReference(
            api_version=api_version, kind=kind, name=name, uid=f"uid-{name}", controller=True
        )
        return self._meta(owner_references=(*self.metadata.owner_references, owner))

    def _meta(self, **changes: object) -> Self:
        """Change metadata."""
        return replace(self, metadata=replace(self.metadata, **changes))


class BuiltPod(Pod, _Built, frozen=True):
    """A pod that gives changed copies of itself. Requests go to the first container."""

    def in_namespace(self, namespace: str) -> Self:
        """Move to a namespace."""
        return self._meta(namespace=namespace, uid=f"uid-{namespace}-{self.name}")

    def terminating(self, since: str = "2020-09-13T12:26:40Z") -> Self:
        """Have its deletion asked for."""
        return self._meta(deletion_timestamp=since)

    def request(self, resource: str, amount: str | int) -> Self:
        """Request an amount of a resource."""
        first, *others = self.spec.containers
        requests = {**first.resources.requests, resource: str(amount)}
        changed = replace(first, resources=replace(first.resources, requests=requests))
        return self._spec(containers=(changed, *others))

    def cpu(self, amount: str | int) -> Self:
        """Request cpu."""
        return self.request("cpu", amount)

    def memory(self, amount: str | int) -> Self:
        """Request memory."""
        return self.request("memory", amount)

    def gpu(self, amount: str | int, resource: str = GPU) -> Self:
        """Request GPUs."""
        return self.request(resource, amount)

    def container(self, *, image: str = "", **requests: str) -> Self:
        """Add a container; requests by name (`cpu="1"`)."""
        return self._spec(containers=(*self.spec.containers, self._container(image, requests)))

    def init_container(self, *, image: str = "", sidecar: bool = False, **requests: str) -> Self:
        """Add an init container, or a sidecar."""
        made = replace(self._container(image, requests), restart_policy="Always" if sidecar else None)
        return self._spec(init_containers=(*self.spec.init_containers, made))

    def image(self, image: str) -> Self:
        """Set the first container's image."""
        first, *others = self.spec.containers
        return self._spec(containers=(replace(first, image=image), *others))

    def host_port(self, port: int, protocol: str = "TCP", ip: str = "") -> Self:
        """Occupy a port of the node."""
        first, *others = self.spec.containers
        taken = ContainerPort(container_port=port, host_port=port, protocol=protocol, host_ip=ip)
        return self._spec(containers=(replace(first, ports=(*first.ports, taken)), *others))

    def volume(self, volume: Volume) -> Self:
        """Add a volume."""
        return self._spec(volumes=(*self.spec.volumes, volume))

    def claim(self, name: str) -> Self:
        """Add the volume of a claim."""
        source = PersistentVolumeClaimVolumeSource(claim_name=name)
        return self.volume(Volume(name=name, persistent_volume_claim=source))

    def on(self, node_name: str) -> Self:
        """Be bound to a node."""
        return self._spec(node_name=node_name)

    def scheduler(self, name: str) -> Self:
        """Ask for a scheduler profile."""
        return self._spec(scheduler_name=name)

    def with_priority(self, priority: int, *, preemption_policy: str | None = None) -> Self:
        """Set the priority."""
        return self._spec(priority=priority, preemption_policy=preemption_policy)

    def gate(self, name: str) -> Self:
        """Add a scheduling gate."""
        return self._spec(scheduling_gates=(*self.spec.scheduling_gates, PodSchedulingGate(name=name)))

    def tolerates(self, key: str = "", value: str = "", effect: str = "", seconds: int | None = None) -> Self:
        """Tolerate a taint: any value unless one is given, any effect, and every taint without a key."""
        operator = "Equal" if value else "Exists"
        made = Toleration(key=key, operator=operator, value=value, effect=effect, toleration_seconds=seconds)
        return self._spec(tolerations=(*self.spec.tolerations, made))

    def node_selector(self, key: str, value: str) -> Self:
        """Require a node label by nodeSelector."""
        return self._spec(node_selector={**self.spec.node_selector, key: value})

    def requires_node(self, key: str, operator: str, *values: str) -> Self:
        """Require a node by affinity; each call adds an alternative term."""
        affinity = self._affinity().node_affinity or NodeAffinity()
        terms = affinity.required.node_selector_terms if affinity.required else ()
        required = NodeSelector(node_selector_terms=(*terms, _term(key, operator, values)))
        return self._affine(node_affinity=replace(affinity, required=required))

    def prefers_node(self, weight: int, key: str, operator: str, *values: str) -> Self:
        """Prefer a node by affinity."""
        affinity = self._affinity().node_affinity or NodeAffinity()
        made = PreferredSchedulingTerm(weight=weight, preference=_term(key, operator, values))
        return self._affine(node_affinity=replace(affinity, preferred=(*affinity.preferred, made)))

    def near(
        self, labels: dict[str, str], topology_key: str = ZONE, *, weight: int = 0, **term: object
    ) -> Self:
        """Require, or with a weight prefer, to be where such pods are; `term` sets more of its fields."""
        return self._affine(
            pod_affinity=_with(self._affinity().pod_affinity, labels, topology_key, weight, term)
        )

    def away_from(
        self, labels: dict[str, str], topology_key: str = HOSTNAME, *, weight: int = 0, **term: object
    ) -> Self:
        """Require, or with a weight prefer, not to be where such pods are; `term` sets more of its fields."""
        changed = _with(self._affinity().pod_anti_affinity, labels, topology_key, weight, term)
        return self._affine(pod_anti_affinity=changed)

    def spread(
        self,
        labels: dict[str, str],
        topology_key: str = ZONE,
        *,
        max_skew: int = 1,
        soft: bool = False,
        min_domains: int | None = None,
        node_affinity_policy: str | None = None,
        node_taints_policy: str | None = None,
    ) -> Self:
        """Spread over a topology together with such pods."""
        made = TopologySpreadConstraint(
            max_skew=max_skew,
            topology_key=topology_key,
            when_unsatisfiable="ScheduleAnyway" if soft else "DoNotSchedule",
            label_selector=LabelSelector(match_labels=labels),
            min_domains=min_domains,
            node_affinity_policy=node_affinity_policy,
            node_taints_policy=node_taints_policy,
        )
        return self._spec(topology_spread_constraints=(*self.spec.topology_spread_constraints, made))

    def nominated_to(self, node_name: str) -> Self:
        """Be nominated to a node by its status."""
        return self._status(nominated_node_name=node_name)

    def started(self, at: str) -> Self:
        """Set the start time (RFC 3339)."""
        return self._status(start_time=at)

    def phase(self, phase: str) -> Self:
        """Set the phase."""
        return self._status(phase=phase)

    def _container(self, image: str, requests: dict[str, str]) -> Container:
        """Make a container with the next free name."""
        number = len(self.spec.containers) + len(self.spec.init_containers)
        return Container(
            name=f"c{number}", image=image, resources=ResourceRequirements(requests=dict(requests))
        )

    def _affinity(self) -> Affinity:
        """The affinity so far."""
        return self.spec.affinity or Affinity()

    def _affine(self, **changes: object) -> Self:
        """Change the affinity."""
        return self._spec(affinity=replace(self._affinity(), **changes))

    def _spec(self, **changes: object) -> Self:
        """Change the spec."""
        return replace(self, spec=replace(self.spec, **changes))

    def _status(self, **changes: object) -> Self:
        """Change the status."""
        return replace(self, status=replace(self.status, **changes))


class BuiltNode(Node, _Built, frozen=True):
    """A node that gives changed copies of itself."""

    def resource(self, name: str, amount: str | int) -> Self:
        """Set how much of a resource there is."""
        changed = {**self.status.allocatable, name: str(amount)}
        return self._status(allocatable=changed, capacity=changed)

    def cpu(self, amount: str | int) -> Self:
        """Set cpu."""
        return self.resource("cpu", amount)

    def memory(self, amount: str | int) -> Self:
        """Set memory."""
        return self.resource("memory", amount)

    def gpu(self, amount: str | int, resource: str = GPU) -> Self:
        """Set GPUs."""
        return self.resource(resource, amount)

    def pods(self, amount: int) -> Self:
        """Set how many pods the node takes."""
        return self.resource("pods", amount)

    def in_zone(self, zone: str, region: str = "") -> Self:
        """Label the node with a zone, and a region."""
        placed = self.label(ZONE, zone)
        return placed.label(REGION, region) if region else placed

    def taint(self, key: str, value: str = "", effect: str = NO_SCHEDULE) -> Self:
        """Add a taint."""
        taints = (*self.spec.taints, Taint(key=key, value=value, effect=effect))
        return replace(self, spec=replace(self.spec, taints=taints))

    def cordoned(self, unschedulable: bool = True) -> Self:
        """Cordon the node."""
        return replace(self, spec=replace(self.spec, unschedulable=unschedulable))

    def has_image(self, *names: str, size: int) -> Self:
        """Add an image under its names, of a size in bytes."""
        return self._status(images=(*self.status.images, ContainerImage(names=names, size_bytes=size)))

    def condition(self, kind: str, status: str) -> Self:
        """Add a condition."""
        return self._status(conditions=(*self.status.conditions, NodeCondition(type=kind, status=status)))

    def _status(self, **changes: object) -> Self:
        """Change the status."""
        return replace(self, status=replace(self.status, **changes))


def pod(name: str, namespace: str = "default") -> BuiltPod:
    """Make a pod with one container that requests nothing."""
    uid = f"uid-{name}" if namespace == "default" else f"uid-{namespace}-{name}"
    return BuiltPod(
        metadata=ObjectMeta(name=name, namespace=namespace, uid=uid),
        spec=PodSpec(containers=(Container(name="c0"),)),
        status=PodStatus(phase="Pending"),
    )


def node(name: str) -> BuiltNode:
    """Make a node of 32 cpus, 128 GiB and 110 pods that bears its hostname label."""
    amounts: dict[str, str | int | float] = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    return BuiltNode(
        metadata=ObjectMeta(name=name, uid=f"uid-{name}", labels={HOSTNAME: name}),
        status=NodeStatus(allocatable=amounts, capacity=amounts),
    )


def namespace(name: str, **labels: str) -> Namespace:
    """Make a namespace."""
    return Namespace(metadata=ObjectMeta(name=name, uid=f"uid-{name}", labels=labels))


def cluster(*objects: Object, clock: VirtualClock | None = None) -> Cluster:
    """Make a cluster that has seen these objects arrive in this order; pods must be `on` a node."""
    made = Cluster(clock or VirtualClock())
    for obj in objects:
        made.apply(WatchEvent("ADDED", obj))
    return made


def _term(key: str, operator: str, values: tuple[str, ...]) -> NodeSelectorTerm:
    """Make a node selector term with one expression, on a field where the key is one."""
    made = (NodeSelectorRequirement(key=key, operator=operator, values=values),)
    return (
        NodeSelectorTerm(match_fields=made)
        if key == "metadata.name"
        else NodeSelectorTerm(match_expressions=made)
    )


def _with(
    affinity: PodAffinity | None,
    labels: dict[str, str],
    topology_key: str,
    weight: int,
    more: dict[str, object],
) -> PodAffinity:
    """Add a term to a pod affinity."""
    known = affinity or PodAffinity()
    term = replace(
        PodAffinityTerm(topology_key=topology_key, label_selector=LabelSelector(match_labels=labels)), **more
    )
    if weight:
        made = WeightedPodAffinityTerm(weight=weight, pod_affinity_term=term)
        return replace(known, preferred=(*known.preferred, made))
    return replace(known, required=(*known.required, term))
