"""Everything the generator can put into a case, one module per feature."""

from __future__ import annotations

from typing import Final

from schedlab.errors import UsageError
from schedlab.fuzz.features.affinity import PodAffinity
from schedlab.fuzz.features.contract import Feature
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
#: Drawn only when named: kubesched does not have the plugins for these yet.
AHEAD: Final = frozenset({"volumes"})


def chosen(names: str) -> tuple[str, ...]:
    """The features of a comma-separated list, in drawing order; `all` is all but `AHEAD`, `-x` takes one out.

    Raises:
        UsageError: a name that is not a feature.
    """
    wanted: set[str] = set()
    for name in (part.strip() for part in names.split(",")):
        bare = name.removeprefix("-")
        if bare != "all" and bare not in FEATURES:
            raise UsageError(
                f"unknown feature {bare!r}",
                hint=f"choose among: all, {', '.join(FEATURES)}; -NAME takes one out",
            )
        if name.startswith("-"):
            wanted.discard(bare)
        else:
            wanted.update(FEATURES.keys() - AHEAD if bare == "all" else (bare,))
    return tuple(name for name in FEATURES if name in wanted)
