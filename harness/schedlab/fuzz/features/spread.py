"""Topology spread constraints, hard and soft, with all their policies."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import HOSTNAME, RACK, ZONE, Blueprint, label_selector
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object

_KEYS = (ZONE, ZONE, HOSTNAME, RACK, "absent")


class Spread:
    """One or two constraints on most arriving pods; existing pods are counted, never asked."""

    name = "spread"

    def draw(self, plan: Blueprint) -> None:
        """Constrain pods over zones, hosts, racks and a key that no node has."""
        draw = plan.draw.fork(self.name)
        for pod in plan.arrivals:
            if not draw.chance(0.6):
                continue
            wanted = draw.some(
                [(key, hard) for key in dict.fromkeys(_KEYS) for hard in (True, False)],
                1,
                draw.pick((1, 1, 2, 3)),
            )
            constraints = [_constraint(draw, pod, key, hard) for key, hard in wanted if _likely(draw, key)]
            if constraints:
                pod["spec"]["topologySpreadConstraints"] = constraints

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No constraints, so the defaults apply."""
        del objects
        pod["spec"].pop("topologySpreadConstraints", None)


def _likely(draw: Draw, key: str) -> bool:
    return key != "absent" or draw.chance(0.15)


def _constraint(draw: Draw, pod: Object, key: str, hard: bool) -> Object:
    constraint: Object = {
        "topologyKey": key,
        "maxSkew": draw.weighted({1: 6, 2: 2, 3: 1, 5: 1}),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
    }
    if draw.chance(0.7):
        constraint["labelSelector"] = {"matchLabels": {"app": pod["metadata"]["labels"].get("app", "web")}}
    elif draw.chance(0.9):
        constraint["labelSelector"] = label_selector(draw)
    if hard and draw.chance(0.2):
        constraint["minDomains"] = draw.pick((1, 2, 3, 4, 10))
    if draw.chance(0.2) and "labelSelector" in constraint:
        keys = [key for key in ("version", "missing") if key not in str(constraint["labelSelector"])]
        if keys:
            constraint["matchLabelKeys"] = draw.some(keys, 1, 1)
    if draw.chance(0.25):
        constraint["nodeAffinityPolicy"] = draw.pick(("Honor", "Ignore"))
    if draw.chance(0.25):
        constraint["nodeTaintsPolicy"] = draw.pick(("Honor", "Ignore"))
    return constraint
