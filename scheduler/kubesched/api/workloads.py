"""Namespaces, priority classes, disruption budgets, and the owners whose selectors default spreading uses."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from kubesched.api.base import Object, Value
from kubesched.api.labels import LabelSelector


class Namespace(Object, frozen=True):
    """A namespace: its labels are what namespace selectors read."""

    kind: ClassVar[str] = "Namespace"
    api_version: ClassVar[str] = "v1"


class ServiceSpec(Value, frozen=True):
    """`spec` of a service."""

    selector: dict[str, str] = msgspec.field(default_factory=dict)


class Service(Object, frozen=True):
    """A service."""

    kind: ClassVar[str] = "Service"
    api_version: ClassVar[str] = "v1"

    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(Value, frozen=True):
    """`spec` of a replication controller."""

    selector: dict[str, str] = msgspec.field(default_factory=dict)
    replicas: int | None = None


class ReplicationController(Object, frozen=True):
    """A replication controller."""

    kind: ClassVar[str] = "ReplicationController"
    api_version: ClassVar[str] = "v1"

    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class WorkloadSpec(Value, frozen=True):
    """`spec` of a replica set or stateful set."""

    selector: LabelSelector | None = None
    replicas: int | None = None


class ReplicaSet(Object, frozen=True):
    """A replica set."""

    kind: ClassVar[str] = "ReplicaSet"
    api_version: ClassVar[str] = "apps/v1"

    spec: WorkloadSpec = WorkloadSpec()


class StatefulSet(Object, frozen=True):
    """A stateful set."""

    kind: ClassVar[str] = "StatefulSet"
    api_version: ClassVar[str] = "apps/v1"

    spec: WorkloadSpec = WorkloadSpec()


class PodDisruptionBudgetSpec(Value, frozen=True):
    """`spec` of a budget; a null selector matches nothing."""

    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(Value, frozen=True):
    """`status` of a budget: what may still be disrupted, and which pods already are."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] = msgspec.field(default_factory=dict)


class PodDisruptionBudget(Object, frozen=True):
    """A pod disruption budget."""

    kind: ClassVar[str] = "PodDisruptionBudget"
    api_version: ClassVar[str] = "policy/v1"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(Object, frozen=True):
    """A priority class."""

    kind: ClassVar[str] = "PriorityClass"
    api_version: ClassVar[str] = "scheduling.k8s.io/v1"

    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None
