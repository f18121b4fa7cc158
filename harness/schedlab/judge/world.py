"""A cluster state as the judge sees it: nodes, the pods on them, and the namespaces' labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Object = Mapping[str, Any]
Labels = Mapping[str, str]

_FINISHED = ("Succeeded", "Failed")


@dataclass(slots=True)
class World:
    """Nodes by name, pods by their node's name, pods that a node has been promised to, and storage.

    `drivers` has what each node can attach by driver, `tracked` the drivers that say in `rooms` what can be
    made where. Finished pods hold nothing and are left out, and so are pods on nodes that do not exist.
    """

    nodes: dict[str, Object] = field(default_factory=dict)
    pods: dict[str, list[Object]] = field(default_factory=dict)
    nominated: dict[str, list[Object]] = field(default_factory=dict)
    namespaces: dict[str, Labels] = field(default_factory=dict)
    claims: dict[tuple[str, str], Object] = field(default_factory=dict)
    volumes: dict[str, Object] = field(default_factory=dict)
    drivers: dict[str, dict[str, int]] = field(default_factory=dict)
    classes: dict[str, Object] = field(default_factory=dict)
    tracked: set[str] = field(default_factory=set)
    rooms: list[Object] = field(default_factory=list)

    @classmethod
    def of(cls, objects: Iterable[Object]) -> World:
        """The world that these objects, as the API stores them, make up."""
        world = cls()
        for obj in objects:
            name = obj["metadata"]["name"]
            if obj["kind"] == "Node":
                world.nodes[name] = obj
            elif obj["kind"] == "Namespace":
                world.namespaces[name] = obj["metadata"].get("labels") or {}
            elif obj["kind"] == "Pod" and (obj.get("status") or {}).get("phase") not in _FINISHED:
                world._place(obj)
            else:
                world._store(obj)
        return world

    def _store(self, obj: Object) -> None:
        name = obj["metadata"]["name"]
        if obj["kind"] == "PersistentVolumeClaim":
            self.claims[namespace(obj), name] = obj
        elif obj["kind"] == "PersistentVolume":
            self.volumes[name] = obj
        elif obj["kind"] == "CSINode":
            self.drivers[name] = _limits(obj)
        elif obj["kind"] == "StorageClass":
            self.classes[name] = obj
        elif obj["kind"] == "CSIDriver" and obj["spec"].get("storageCapacity"):
            self.tracked.add(name)
        elif obj["kind"] == "CSIStorageCapacity":
            self.rooms.append(obj)

    def _place(self, pod: Object) -> None:
        status = pod.get("status") or {}
        if pod["spec"].get("nodeName"):
            self.pods.setdefault(pod["spec"]["nodeName"], []).append(pod)
        elif status.get("nominatedNodeName"):
            self.nominated.setdefault(status["nominatedNodeName"], []).append(pod)

    def on(self, node: str) -> list[Object]:
        """The pods on a node."""
        return self.pods.get(node, [])

    def everywhere(self) -> Iterable[tuple[Object, Object]]:
        """Every pod with its node."""
        for name, node in self.nodes.items():
            for pod in self.on(name):
                yield pod, node

    def with_pods(self, node: str, more: Iterable[Object]) -> World:
        """This world with more pods on one node."""
        pods = {**self.pods, node: [*self.on(node), *more]}
        return replace(self, pods=pods)


def _limits(csi_node: Object) -> dict[str, int]:
    """How many volumes each driver can attach to the node; drivers without a limit are left out."""
    return {
        driver["name"]: driver["allocatable"]["count"]
        for driver in csi_node["spec"].get("drivers") or ()
        if (driver.get("allocatable") or {}).get("count") is not None
    }


def labels(obj: Object) -> Labels:
    """An object's labels, empty if it has none."""
    found: Labels = obj["metadata"].get("labels") or {}
    return found


def namespace(obj: Object) -> str:
    """An object's namespace."""
    return str(obj["metadata"].get("namespace") or "default")


def priority(pod: Object) -> int:
    """A pod's priority, 0 if it has none."""
    return int(pod["spec"].get("priority") or 0)
