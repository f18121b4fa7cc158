"""Draws cases: a seed and a list of features make a plan, always the same one.

Sizes are skewed to small clusters, where every node counts and a difference is easy to read; one case in ten
has up to sixty nodes. Stays below a hundred nodes, from where on the reference no longer looks at all of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedlab.fuzz.blueprint import (
    NODE_LABELS,
    POD_LABELS,
    RACK,
    REGION,
    ZONE,
    Blueprint,
    Object,
    node,
    pod,
)
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features import FEATURES
from schedlab.fuzz.plan import Plan

#: Numbers of nodes, from least to most, and how often they are drawn.
SIZES: Final[dict[tuple[int, int], float]] = {(3, 6): 5, (7, 15): 4, (16, 60): 1}
#: So many that the reference no longer looks at all of them.
MANY: Final[dict[tuple[int, int], float]] = {(101, 150): 1}


def plan(seed: int | str, features: Sequence[str], *, arrivals: int = 20, many: bool = False) -> Plan:
    """The case of this seed: `arrivals` pods one after another in one cluster, of `many` nodes if need be."""
    draw = Draw(f"{seed}")
    drawn = Blueprint(draw)
    drawn.nodes = _nodes(draw.fork("nodes"), MANY if many else SIZES)
    drawn.pods = _pods(draw.fork("pods"), drawn.node_names)
    drawn.arrivals = [_pod(draw.fork(f"arrival-{n}"), f"pod-{n}") for n in range(arrivals)]
    present = _present(draw.fork("features"), features)
    for name in present:
        FEATURES[name].draw(drawn)
    return Plan(
        objects=(*drawn.others, *drawn.nodes, *drawn.pods),
        arrivals=tuple(drawn.arrivals),
        seed=seed if isinstance(seed, int) else None,
        features=tuple(present),
        timed=drawn.timed,
        keep_nominated=draw.fork("keep").chance(0.5),
        until_eviction=drawn.collides,
        source=f"generated from seed {seed}",
    )


def _present(draw: Draw, features: Sequence[str]) -> list[str]:
    """Which features this case has: few at a time show their own effect, all at once show how they mix."""
    everything = not features or draw.chance(0.25)
    share = 1 if everything else max(draw.pick((0.2, 0.4, 0.7)), 2 / len(features))
    present = {name.lstrip("+") for name in features if draw.chance(share) or name.startswith("+")}
    if "+crowds" not in features and draw.chance(0.2):
        present.discard("crowds")  # a crowd hides what only shows where there is room
    if "crowds" in present:
        present |= {"priorities", "budgets"}  # which show in a crowd above all
    return [name for name in (name.lstrip("+") for name in features) if name in present]


def _nodes(draw: Draw, sizes: dict[tuple[int, int], float]) -> list[Object]:
    low, high = draw.weighted(sizes)
    zones = draw.pick((1, 2, 3, 3))
    labelled = draw.pick((0.0, 0.9, 1.0, 1.0))
    uniform = _allocatable(draw) if draw.chance(0.4) else None
    return [
        node(f"node-{n}", _labels(draw, zones, labelled), dict(uniform or _allocatable(draw)))
        for n in range(draw.between(low, high))
    ]


def _labels(draw: Draw, zones: int, labelled: float) -> dict[str, str]:
    labels: dict[str, str] = {}
    if draw.chance(labelled):
        labels[ZONE] = f"z{draw.between(1, zones)}"
        labels[REGION] = "r1" if labels[ZONE] != "z3" else "r2"
    if draw.chance(0.5):
        labels[RACK] = f"rack-{draw.between(1, 3)}"
    for key, values in NODE_LABELS.items():
        if draw.chance(0.5):
            labels[key] = draw.pick(values)
    return labels


def _allocatable(draw: Draw) -> dict[str, str]:
    return {
        "cpu": draw.pick(("1", "2", "3999m", "4", "8", "31850m", "96")),
        "memory": draw.pick(("1Gi", "2G", "4Gi", "7999999999", "32Gi", "2Ti")),
        "pods": draw.weighted({"2": 1, "4": 1, "10": 2, "110": 6}),
    }


def _pods(draw: Draw, nodes: list[str]) -> list[Object]:
    count = draw.between(0, min(3 * len(nodes), 60))
    made = [_pod(draw, f"old-{n}") for n in range(count)]
    crowded = draw.some(nodes, 1, len(nodes))
    for one in made:
        one["spec"]["nodeName"] = draw.pick(crowded)
    return made


def _pod(draw: Draw, name: str) -> Object:
    labels = {key: draw.pick(values) for key, values in POD_LABELS.items() if draw.chance(0.6)}
    made = pod(name, "default", labels)
    if draw.chance(0.4):
        made["spec"]["containers"][0]["resources"] = {
            "requests": {"cpu": draw.pick(("100m", "500m", "1")), "memory": draw.pick(("64Mi", "1Gi"))}
        }
    return made
