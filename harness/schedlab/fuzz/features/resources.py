"""Requests of every notation and in every place: containers of all sorts, overhead, the pod itself."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, pods_in

GPU = "nvidia.com/gpu"
_CPU = ("0", "1m", "100m", "0.1", "250m", "0.3333", "1", "1e0", "1500m", "2", "3.7", "4")
_MEMORY = (
    "0",
    "1",
    "128974848",
    "129e6",
    "129M",
    "123Mi",
    "0.5Gi",
    "1.5Gi",
    "1Gi",
    "2G",
    "1e9",
    "3333333333m",
    "1073741825",
)
_STORAGE = ("0", "1Gi", "500M", "2Gi")


class Resources:
    """Small and odd requests, extended resources, and the sums that differ between init, sidecar and main."""

    name = "resources"

    def draw(self, plan: Blueprint) -> None:
        """Give nodes GPUs and ephemeral storage, and pods requests in all places."""
        draw = plan.draw.fork(self.name)
        for node in plan.nodes:
            extra: dict[str, str] = {}
            if draw.chance(0.4):
                extra[GPU] = draw.pick(("0", "1", "2", "8"))
            if draw.chance(0.6):
                extra["ephemeral-storage"] = draw.pick(("1Gi", "10G", "100Gi"))
            if draw.chance(0.15):
                extra["hugepages-2Mi"] = draw.pick(("0", "64Mi"))
            node["status"]["allocatable"].update(extra)
            node["status"]["capacity"].update(extra)
        for pod in plan.pods:
            _existing(draw, pod)
        for pod in plan.arrivals:
            _arriving(draw, pod)

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No pod asks for anything; nodes keep their sizes, which then do not matter."""
        for one in (*pods_in(objects), pod):
            for container in (*one["spec"]["containers"], *one["spec"].get("initContainers", ())):
                container.pop("resources", None)
            one["spec"].pop("overhead", None)
            one["spec"].pop("resources", None)


def _existing(draw: Draw, pod: Object) -> None:
    if draw.chance(0.8):
        pod["spec"]["containers"][0]["resources"] = _requirements(draw)
    if draw.chance(0.15):
        pod["spec"]["initContainers"] = [_container(draw, "init")]
    if draw.chance(0.1):
        pod["spec"]["overhead"] = {"cpu": "50m", "memory": "32Mi"}


def _arriving(draw: Draw, pod: Object) -> None:
    spec = pod["spec"]
    if draw.chance(0.85):
        spec["containers"][0]["resources"] = _requirements(draw)
    if draw.chance(0.3):
        spec["containers"].append({**_container(draw, "second"), "image": "app:v2"})
    if draw.chance(0.3):
        initial = [_container(draw, f"init-{index}") for index in range(draw.between(1, 3))]
        for container in initial:
            if draw.chance(0.4):
                container["restartPolicy"] = "Always"
        spec["initContainers"] = initial
    if draw.chance(0.15):
        spec["overhead"] = {"cpu": draw.pick(("50m", "1")), "memory": draw.pick(("1Mi", "1G"))}
    if draw.chance(0.1):
        _pod_level(draw, spec)


def _container(draw: Draw, name: str) -> Object:
    container: Object = {"name": name, "image": "app:v1"}
    if draw.chance(0.8):
        container["resources"] = _requirements(draw)
    return container


def _requirements(draw: Draw) -> Object:
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    if draw.chance(0.75):
        requests["cpu"] = draw.pick(_CPU)
    if draw.chance(0.7):
        requests["memory"] = draw.pick(_MEMORY)
    if draw.chance(0.15):
        requests["ephemeral-storage"] = draw.pick(_STORAGE)
    if draw.chance(0.2):
        limits[GPU] = draw.pick(("1", "2", "4"))
    if draw.chance(0.1):
        limits["cpu"] = "4"
    if draw.chance(0.04):
        requests.setdefault("memory", "1Mi")
        limits["hugepages-2Mi"] = "4Mi"
    return {"requests": requests, "limits": limits}


def _pod_level(draw: Draw, spec: Object) -> None:
    """Pod-level requests: at least the sum of the containers', as the API server demands."""
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        limits = container.get("resources", {}).get("limits", {})
        for name in ("cpu", "hugepages-2Mi"):
            limits.pop(name, None)
    spec["resources"] = {"requests": {"cpu": draw.pick(("20", "30")), "memory": draw.pick(("20Gi", "30G"))}}
    if draw.chance(0.5):
        del spec["resources"]["requests"][draw.pick(("cpu", "memory"))]
