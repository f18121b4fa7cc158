"""Claims: bound to volumes that some nodes can reach, can attach so many of, or that serve one pod only.

Every claim is bound already, or never will be: without a volume controller nothing would finish a binding
that the scheduler begins.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import HOSTNAME, ZONE, Blueprint
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, pods_in

_DRIVER = "disk.example.com"
_CLASS = "standard"
_SIZE = {"storage": "1Gi"}


class Volumes:
    """Volumes with node affinity, zone labels and single-pod access; limits per node; missing claims."""

    name = "volumes"

    def draw(self, plan: Blueprint) -> None:
        """Make claims in every namespace and let pods use them."""
        draw = plan.draw.fork(self.name)
        plan.others.append(_storage_class())
        claims: dict[str, list[str]] = {}
        for index in range(draw.between(3, 10)):
            namespace = draw.pick(plan.namespaces)
            claims.setdefault(namespace, []).append(f"claim-{index}")
            plan.others += _claim(draw, plan, index, namespace)
        for node in plan.nodes:
            if draw.chance(0.7):
                plan.others.append(_limits(node["metadata"]["name"], draw.pick((1, 2, 3))))
        for pod in plan.pods:
            if draw.chance(0.4):
                _use(draw, pod, claims.get(pod["metadata"]["namespace"], []))
        for pod in plan.arrivals:
            if draw.chance(0.6):
                own = claims.get(pod["metadata"]["namespace"], [])
                _use(draw, pod, [*own, "missing"] if draw.chance(0.1) else own)

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No pod uses a claim."""
        for one in (*pods_in(objects), pod):
            one["spec"].pop("volumes", None)


def _use(draw: Draw, pod: Object, claims: Sequence[str]) -> None:
    if claims:
        pod["spec"]["volumes"] = [
            {"name": claim, "persistentVolumeClaim": {"claimName": claim}}
            for claim in draw.some(claims, 1, draw.pick((1, 1, 2)))
        ]


def _claim(draw: Draw, plan: Blueprint, index: int, namespace: str) -> list[Object]:
    """A claim and the volume it is bound to; now and then a claim that is still waiting for one."""
    mode = draw.weighted({"ReadWriteOnce": 5, "ReadWriteMany": 2, "ReadWriteOncePod": 3})
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"claim-{index}", "namespace": namespace},
        "spec": {"accessModes": [mode], "storageClassName": _CLASS, "resources": {"requests": _SIZE}},
    }
    if draw.chance(0.08):
        return [claim]
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["spec"]["volumeName"] = f"volume-{index}"
    claim["status"] = {"phase": "Bound", "accessModes": [mode], "capacity": _SIZE}
    return [claim, _volume(draw, plan, index, claim, mode)]


def _volume(draw: Draw, plan: Blueprint, index: int, claim: Object, mode: str) -> Object:
    labels = {ZONE: draw.pick(("z1", "z2", "z1__z2"))} if draw.chance(0.3) else {}
    volume: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"volume-{index}", "labels": labels},
        "spec": {
            "capacity": _SIZE,
            "accessModes": [mode],
            "storageClassName": _CLASS,
            "csi": {"driver": _DRIVER, "volumeHandle": f"handle-{index}"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": claim["metadata"]["namespace"],
                "name": claim["metadata"]["name"],
            },
        },
        "status": {"phase": "Bound"},
    }
    if draw.chance(0.5):
        if draw.chance(0.6):
            wanted = {"key": ZONE, "operator": "In", "values": draw.some(("z1", "z2", "z3"), 1, 2)}
        else:
            wanted = {"key": HOSTNAME, "operator": "In", "values": draw.some(plan.node_names, 1, 2)}
        terms = [{"matchExpressions": [wanted]}]
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return volume


def _limits(node: str, count: int) -> Object:
    driver = {"name": _DRIVER, "nodeID": node, "allocatable": {"count": count}}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": node},
        "spec": {"drivers": [driver]},
    }


def _storage_class() -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": _CLASS},
        "provisioner": _DRIVER,
        "volumeBindingMode": "Immediate",
    }
