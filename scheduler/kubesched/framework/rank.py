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
    """The points of K worlds: `points[p, k]` of plugin `plugins[p]`, weighted, and their sum `total[k]`."""

    view: View
    plugins: tuple[str, ...]
    points: NDArray[np.int64]
    total: NDArray[np.int64]

    def best(self) -> NDArray[np.intp]:
        """The positions of the worlds with the highest total; equals are left to the caller."""
        return np.flatnonzero(self.total == self.total.max())


def rank(cycle: Cycle, view: View) -> Scores:
    """Score the feasible worlds; without any Score plugin every world gets 1. Raises PluginError."""
    framework = cycle.framework
    if not framework.scores:
        return Scores(view, (), np.zeros((0, len(view)), np.int64), np.ones(len(view), np.int64))
    framework.run_pre_score(cycle, view)
    names, points = framework.run_score(cycle, view)
    return Scores(view, names, points, points.sum(axis=0))
