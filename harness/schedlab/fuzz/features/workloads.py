"""What makes system-default spreading apply: services and owners that select the pod."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import POD_LABELS, Blueprint
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object

_KINDS = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")


class Workloads:
    """Services by label; controllers that own some of the arriving pods."""

    name = "workloads"

    def draw(self, plan: Blueprint) -> None:
        """Add services and controllers that select some of the arriving pods, and make some own pods."""
        draw = plan.draw.fork(self.name)
        owners: list[Object] = []
        for index in range(draw.between(3, 6) if plan.arrivals else 0):
            kind, pod = draw.pick(_KINDS), draw.pick(plan.arrivals)
            made = _make(draw, kind, f"{kind.lower()}-{index}", pod["metadata"])
            plan.others.append(made)
            if kind != "Service":
                owners.append(made)
        for pod in plan.arrivals:
            mine = [one for one in owners if one["metadata"]["namespace"] == pod["metadata"]["namespace"]]
            if mine and draw.chance(0.4):
                pod["metadata"]["ownerReferences"] = [_reference(draw.pick(mine))]

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """Nothing selects the pod: selectors become ones that no pod meets."""
        nobody = {"nobody": "here"}
        for obj in objects:
            if obj["kind"] in ("Service", "ReplicationController"):
                obj["spec"]["selector"] = nobody
            elif obj["kind"] in ("ReplicaSet", "StatefulSet"):
                obj["spec"]["selector"] = {"matchLabels": nobody}
        pod["metadata"].pop("ownerReferences", None)


def _make(draw: Draw, kind: str, name: str, selected: Object) -> Object:
    key = draw.pick(tuple(selected["labels"] or POD_LABELS))
    labels = {key: selected["labels"].get(key) or draw.pick(POD_LABELS[key])}
    meta = {"name": name, "namespace": selected["namespace"]}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
    }
    if kind == "Service":
        spec: Object = {"clusterIP": "None", "selector": labels, "ports": [{"port": 80}]}
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": spec}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    if kind == "StatefulSet":
        spec["serviceName"] = "none"
    if kind == "ReplicationController":
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": {**spec, "selector": labels}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec}


def _reference(owner: Object) -> Object:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": f"00000000-0000-0000-0000-{abs(hash_of(owner['metadata']['name'])):012d}",
        "controller": True,
    }


def hash_of(text: str) -> int:
    """A small number that is the same for the same text in every process."""
    return sum((index + 1) * ord(character) for index, character in enumerate(text))
