"""A case while it is being drawn: nodes, other objects, pods that already run, and pods that will arrive.

Label keys and values are shared between all features, so that what one feature selects another has set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from schedlab.fuzz.draw import Draw

Object = dict[str, Any]

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
RACK: Final = "example.com/rack"

#: What nodes may be labelled with. Generations are compared as numbers and include what is none.
NODE_LABELS: Final[dict[str, tuple[str, ...]]] = {
    "disk": ("ssd", "hdd", "nvme"),
    "accelerator": ("h100", "a100", ""),
    "generation": ("1", "2", "10", "007", "9999999999999999999", "new"),
}
POD_LABELS: Final[dict[str, tuple[str, ...]]] = {
    "app": ("web", "api", "batch"),
    "tier": ("front", "back"),
    "version": ("v1", "v2"),
}


@dataclass(slots=True)
class Blueprint:
    """The parts of one case.

    `namespaces` are those that pods may be put in. `collides` says that two pods hold one port of a node.
    """

    draw: Draw
    nodes: list[Object] = field(default_factory=list)
    others: list[Object] = field(default_factory=list)
    pods: list[Object] = field(default_factory=list)
    arrivals: list[Object] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=lambda: ["default"])
    timed: bool = False
    collides: bool = False

    @property
    def node_names(self) -> list[str]:
        """The names of all nodes."""
        return [node["metadata"]["name"] for node in self.nodes]


def labels_of(obj: Object) -> dict[str, str]:
    """An object's labels, to be changed in place."""
    labels: dict[str, str] = obj["metadata"].setdefault("labels", {})
    return labels


def node(name: str, labels: dict[str, str], allocatable: dict[str, str]) -> Object:
    """A node as a kubelet would have registered it."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **labels}},
        "spec": {},
        "status": {"allocatable": allocatable, "capacity": dict(allocatable)},
    }


def pod(name: str, namespace: str, labels: dict[str, str]) -> Object:
    """A pod of one container that asks for nothing."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
    }


def start_apart(draw: Draw, plan: Blueprint) -> None:
    """Give every pod a start time of its own: preemption orders equals by it, and arbitrarily without."""
    plan.timed = True
    for one, start in zip(plan.pods, draw.shuffled(range(len(plan.pods))), strict=True):
        minute, second = divmod(start, 60)
        one.setdefault("status", {})["startTime"] = f"2024-06-01T00:{minute:02d}:{second:02d}Z"


def node_expression(draw: Draw) -> Object:
    """A random requirement on node labels, of every operator."""
    key = draw.pick((*NODE_LABELS, ZONE, "absent"))
    operator = draw.weighted({"In": 5, "NotIn": 3, "Exists": 2, "DoesNotExist": 2, "Gt": 1, "Lt": 1})
    if operator in ("Gt", "Lt"):
        return {"key": "generation", "operator": operator, "values": [draw.pick(("0", "1", "2", "5", "00"))]}
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    options = NODE_LABELS.get(key, ("z1", "z2", "z3"))
    return {"key": key, "operator": operator, "values": draw.some(options, 1, 2)}


def label_selector(draw: Draw) -> Object:
    """A random selector of pods: often by one label, sometimes by expressions, rarely of everything."""
    shape = draw.weighted({"one": 8, "two": 2, "expressions": 3, "everything": 1})
    if shape == "everything":
        return {}
    if shape in ("one", "two"):
        keys = draw.some(tuple(POD_LABELS), 1, 1 if shape == "one" else 2)
        return {"matchLabels": {key: draw.pick(POD_LABELS[key]) for key in keys}}
    key = draw.pick((*POD_LABELS, "absent"))
    operator = draw.pick(("In", "NotIn", "Exists", "DoesNotExist"))
    if operator in ("Exists", "DoesNotExist"):
        return {"matchExpressions": [{"key": key, "operator": operator}]}
    values = draw.some(POD_LABELS.get(key, ("x", "y")), 1, 2)
    return {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
