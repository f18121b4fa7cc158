"""Host ports, by protocol and by address."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, pods_in

_PORTS = (80, 443, 8080)
_ADDRESSES = ("", "0.0.0.0", "127.0.0.1", "10.0.0.1")  # noqa: S104 - the wildcard address is what is tested


class Ports:
    """Few ports and many pods, so that they meet; the wildcard address collides with every other."""

    name = "ports"

    def draw(self, plan: Blueprint) -> None:
        """Let a third of the pods want host ports.

        Pods that already run do not collide: a kubelet would have refused the second one, and the reference,
        which keeps ports as a set, forgets a port as soon as one of its holders goes.
        """
        draw = plan.draw.fork(self.name)
        taken: dict[str, list[Object]] = {}
        for pod in (*plan.pods, *plan.arrivals):
            if not draw.chance(0.35):
                continue
            wanted = _ports(draw)
            held = taken.setdefault(pod["spec"].get("nodeName", ""), [])
            if "nodeName" in pod["spec"]:
                numbers = {port["hostPort"] for port in held}
                wanted = [port for port in wanted if port["hostPort"] not in numbers]
                held.extend(wanted)
            pod["spec"]["containers"][0]["ports"] = wanted

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No pod wants a port."""
        for one in (*pods_in(objects), pod):
            for container in one["spec"]["containers"]:
                container.pop("ports", None)


def _ports(draw: Draw) -> list[Object]:
    ports: list[Object] = []
    for number in draw.some(_PORTS, 1, 2):
        port: Object = {
            "containerPort": number,
            "hostPort": number,
            "protocol": draw.weighted({"TCP": 4, "UDP": 1, "SCTP": 1}),
        }
        if address := draw.pick(_ADDRESSES):
            port["hostIP"] = address
        ports.append(port)
    return ports
