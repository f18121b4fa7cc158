"""Pods that use claims, disks of their own, or claims that have yet to be made for them."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, pods_in
from schedlab.fuzz.features.storage import draw_claim, draw_cluster


class Volumes:
    """Volumes with node affinity, zone labels and single-pod access; limits per node; room for new ones."""

    name = "volumes"

    def draw(self, plan: Blueprint) -> None:
        """Make claims in the namespaces and let pods use them."""
        draw = plan.draw.fork(self.name)
        if not plan.nodes:
            return
        draw_cluster(draw, plan)
        claims: dict[str, list[str]] = {}
        for index in range(draw.between(4, 10)):
            namespace = draw.pick(plan.namespaces[:2])
            claims.setdefault(namespace, []).append(f"claim-{index}")
            plan.others += draw_claim(draw, plan, index, namespace)
        for pod in plan.pods:
            if draw.chance(0.4):
                _use(draw, pod, claims.get(pod["metadata"]["namespace"], []))
        for pod in plan.arrivals:
            if draw.chance(0.6):
                own = claims.get(pod["metadata"]["namespace"], [])
                _use(draw, pod, [*own, "missing"] if draw.chance(0.1) else own)

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No pod uses a volume."""
        for one in (*pods_in(objects), pod):
            one["spec"].pop("volumes", None)


def _use(draw: Draw, pod: Object, claims: Sequence[str]) -> None:
    volumes: list[Object] = []
    if claims and draw.chance(0.85):
        volumes += [
            {"name": claim, "persistentVolumeClaim": {"claimName": claim}}
            for claim in draw.some(claims, 1, draw.pick((1, 1, 2)))
        ]
    if draw.chance(0.15):
        volumes.append({"name": "disk", **_disk(draw)})
    if draw.chance(0.02):
        template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
        volumes.append({"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}})
    if volumes:
        pod["spec"]["volumes"] = volumes


def _disk(draw: Draw) -> Object:
    """Disks that two pods on one node may only share by the rules of their kind."""
    name, reading = draw.pick(("one", "two")), draw.chance(0.4)
    return draw.pick(
        (
            {"gcePersistentDisk": {"pdName": name, "readOnly": reading}},
            {"awsElasticBlockStore": {"volumeID": name}},
            {
                "iscsi": {
                    "targetPortal": "10.0.0.1",
                    "iqn": f"iqn.2001-04.com.example:{name}",
                    "lun": 0,
                    "readOnly": reading,
                }
            },
            {"rbd": {"monitors": ["a", draw.pick("bc")], "image": name, "pool": "p", "readOnly": reading}},
        )
    )
