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

        Now and then two pods that already run collide. The reference keeps a node's ports as a set and
        forgets a port as soon as one of its holders goes, so no pod may go in such a case: what follows would
        depend on what no state shows.
        """
        draw = plan.draw.fork(self.name)
        plan.collides = draw.chance(0.2)
        taken: dict[str, list[Object]] = {}
        for pod in (*plan.pods, *plan.arrivals):
            if not draw.chance(0.35):
                continue
            wanted = _ports(draw)
            held = taken.setdefault(pod["spec"].get("nodeName", ""), [])
            if "nodeName" in pod["spec"] and not plan.collides:
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
