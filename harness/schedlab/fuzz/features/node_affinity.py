"""Node selectors, required and preferred node affinity, and terms that name nodes."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import NODE_LABELS, Blueprint, node_expression
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object


class NodeAffinity:
    """Every operator, several terms, empty terms, selectors beside affinity, weights from 1 to 100."""

    name = "nodeaffinity"

    def draw(self, plan: Blueprint) -> None:
        """Give most arriving pods a wish or a demand."""
        draw = plan.draw.fork(self.name)
        for pod in plan.arrivals:
            if draw.chance(0.25):
                key = draw.pick(tuple(NODE_LABELS))
                pod["spec"]["nodeSelector"] = {key: draw.pick(NODE_LABELS[key])}
            affinity: Object = {}
            if draw.chance(0.35):
                terms = [_term(draw) for _ in range(draw.between(1, 2))]
                affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
            if draw.chance(0.45):
                affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
                    {"weight": draw.pick((1, 2, 7, 50, 100)), "preference": _term(draw)}
                    for _ in range(draw.between(1, 3))
                ]
            if affinity:
                pod["spec"].setdefault("affinity", {})["nodeAffinity"] = affinity

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """The pod goes anywhere."""
        del objects
        pod["spec"].pop("nodeSelector", None)
        pod["spec"].get("affinity", {}).pop("nodeAffinity", None)


class Names:
    """Terms that name nodes by field, as the DaemonSet controller writes them."""

    name = "names"

    def draw(self, plan: Blueprint) -> None:
        """Tie some pods to nodes by name, some of which do not exist."""
        draw = plan.draw.fork(self.name)
        for pod in plan.arrivals:
            if not draw.chance(0.25):
                continue
            affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
            required = affinity.setdefault(
                "requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": []}
            )
            term: Object = {"matchFields": [_field(draw, [*plan.node_names, "absent"])]}
            if draw.chance(0.2):
                term["matchExpressions"] = [node_expression(draw)]
            if required["nodeSelectorTerms"] and draw.chance(0.5):
                required["nodeSelectorTerms"][0].setdefault("matchFields", []).extend(term["matchFields"])
            else:
                required["nodeSelectorTerms"].append(term)

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """Terms keep their expressions only; a term that named nodes and nothing else goes."""
        del objects
        affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        if not required:
            return
        for term in required["nodeSelectorTerms"]:
            term.pop("matchFields", None)
        required["nodeSelectorTerms"] = [term for term in required["nodeSelectorTerms"] if term]
        if not required["nodeSelectorTerms"]:
            del affinity["requiredDuringSchedulingIgnoredDuringExecution"]


def _term(draw: Draw) -> Object:
    if draw.chance(0.05):
        return {}
    return {"matchExpressions": [node_expression(draw) for _ in range(draw.between(1, 2))]}


def _field(draw: Draw, names: list[str]) -> Object:
    operator = draw.weighted({"In": 4, "NotIn": 1})
    return {"key": "metadata.name", "operator": operator, "values": [draw.pick(names)]}
