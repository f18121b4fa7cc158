"""Affinity and anti-affinity between pods, of the arriving pod and of those that already run."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import HOSTNAME, RACK, REGION, ZONE, Blueprint, label_selector
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, pods_in

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class PodAffinity:
    """All four kinds of term on both sides, with namespaces, namespace selectors and label keys."""

    name = "podaffinity"

    def draw(self, plan: Blueprint) -> None:
        """Give half of the pods terms; existing pods' terms score, and their anti-affinity forbids."""
        draw = plan.draw.fork(self.name)
        for pod in plan.pods:
            if draw.chance(0.4):
                _decorate(draw, pod)
        for pod in plan.arrivals:
            if draw.chance(0.6):
                _decorate(draw, pod)

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No pod minds another."""
        for one in (*pods_in(objects), pod):
            for kind in ("podAffinity", "podAntiAffinity"):
                one["spec"].get("affinity", {}).pop(kind, None)


def _decorate(draw: Draw, pod: Object) -> None:
    affinity = pod["spec"].setdefault("affinity", {})
    for kind, hard in (("podAffinity", 0.25), ("podAntiAffinity", 0.35)):
        terms: Object = {}
        if draw.chance(hard):
            terms[_REQUIRED] = [_term(draw, pod) for _ in range(draw.pick((1, 1, 2)))]
        if draw.chance(0.3):
            terms[_PREFERRED] = [
                {"weight": draw.pick((1, 3, 50, 100)), "podAffinityTerm": _term(draw, pod)}
                for _ in range(draw.pick((1, 1, 2)))
            ]
        if terms:
            affinity[kind] = terms


def _term(draw: Draw, pod: Object) -> Object:
    term: Object = {"topologyKey": draw.pick((HOSTNAME, ZONE, ZONE, RACK, REGION))}
    if draw.chance(0.4):
        term["labelSelector"] = {"matchLabels": {"app": pod["metadata"]["labels"].get("app", "web")}}
    elif draw.chance(0.95):
        term["labelSelector"] = label_selector(draw)
    if draw.chance(0.25):
        term["namespaces"] = draw.some(("default", "blue", "green"), 1, 2)
    if draw.chance(0.25):
        team = {"matchLabels": {"team": draw.pick(("search", "ads"))}}
        term["namespaceSelector"] = draw.pick((team, team, {}))
    if draw.chance(0.15) and "labelSelector" in term and "version" not in str(term["labelSelector"]):
        term[draw.pick(("matchLabelKeys", "mismatchLabelKeys"))] = ["version"]
    return term
