"""Everything the generator can put into a case, one module per feature."""

from __future__ import annotations

from typing import Final

from schedlab.errors import UsageError
from schedlab.fuzz.features.affinity import PodAffinity
from schedlab.fuzz.features.contract import Feature
from schedlab.fuzz.features.crowds import Crowds
from schedlab.fuzz.features.gates import Gates
from schedlab.fuzz.features.images import Images
from schedlab.fuzz.features.lifecycle import Lifecycle
from schedlab.fuzz.features.namespaces import Namespaces
from schedlab.fuzz.features.node_affinity import Names, NodeAffinity
from schedlab.fuzz.features.ports import Ports
from schedlab.fuzz.features.priorities import Budgets, Priorities
from schedlab.fuzz.features.resources import Resources
from schedlab.fuzz.features.spread import Spread
from schedlab.fuzz.features.taints import Taints
from schedlab.fuzz.features.unschedulable import Unschedulable
from schedlab.fuzz.features.volumes import Volumes
from schedlab.fuzz.features.workloads import Workloads

#: In the order in which they are drawn: later ones build on what earlier ones made.
FEATURES: Final[dict[str, Feature]] = {
    feature.name: feature
    for feature in (
        Crowds(),
        Namespaces(),
        Resources(),
        NodeAffinity(),
        Names(),
        Taints(),
        Unschedulable(),
        Spread(),
        Workloads(),
        PodAffinity(),
        Ports(),
        Images(),
        Lifecycle(),
        Gates(),
        Priorities(),
        Budgets(),
        Volumes(),
    )
}

#: Lists that can be asked for by one name; a plus sign puts a feature into every case.
MIXES: Final = {
    "preemption": "+crowds,+priorities,+budgets,namespaces,names,taints,spread,podaffinity,ports,lifecycle",
    "scores": "+workloads,+images,namespaces,resources,nodeaffinity,taints,podaffinity,lifecycle",
}


def chosen(names: str) -> tuple[str, ...]:
    """The features of a comma-separated list, in drawing order, with a plus sign if every case has them.

    `all` is all of them, `-x` takes one out, `+x` puts one into every case, a mix stands for its list.

    Raises:
        UsageError: a name that is not a feature.
    """
    wanted: dict[str, str] = {}
    for part in ",".join(MIXES.get(name.strip(), name) for name in names.split(",")).split(","):
        bare = part.strip().lstrip("+-")
        if bare != "all" and bare not in FEATURES:
            raise UsageError(
                f"unknown feature {bare!r}",
                hint=f"choose among: all, {', '.join((*MIXES, *FEATURES))}; -NAME takes one out",
            )
        for name in FEATURES if bare == "all" else (bare,):
            if part.strip().startswith("-"):
                wanted.pop(name, None)
            else:
                wanted[name] = f"+{name}" if part.strip().startswith("+") else name
    return tuple(wanted[name] for name in FEATURES if name in wanted)
