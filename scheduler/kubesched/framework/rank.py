"""Which feasible world is best: normalised, weighted scores per plugin and their total.

Follows upstream `RunScorePlugins` (framework/runtime/framework.go) and `prioritizeNodes` (schedule_one.go).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kubesched.framework.cycle import Cycle
    from kubesched.state.view import View


@dataclass(slots=True)
class Scores:
    """The points of K worlds: `points[p, k]` of plugin `plugins[p]`, weighted, and their sum `total[k]`.

    Where nobody wants to know who gave which points, `plugins` is empty.
    """

    view: View
    plugins: tuple[str, ...]
    points: NDArray[np.int64]
    total: NDArray[np.int64]

    def best(self) -> NDArray[np.intp]:
        """The positions of the worlds with the highest total; equals are left to the caller."""
        return np.flatnonzero(self.total == self.total[self.total.argmax()])


def rank(cycle: Cycle, view: View, *, detailed: bool = True) -> Scores:
    """Score the feasible worlds; without any Score plugin every world gets 1. Raises PluginError.

    `detailed` gives the points of each plugin, beside the total.
    """
    framework = cycle.framework
    nothing = np.zeros((0, len(view)), np.int64)
    if not framework.scores:
        return Scores(view, (), nothing, np.ones(len(view), np.int64))
    framework.run_pre_score(cycle, view)
    if not detailed:
        return Scores(view, (), nothing, framework.run_total(cycle, view))
    names, points = framework.run_score(cycle, view)
    return Scores(view, names, points, points.sum(axis=0))
