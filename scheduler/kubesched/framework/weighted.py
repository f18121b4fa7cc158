"""Score plugins with their weights: raw points, normalised, checked and weighed.

Follows upstream `RunScorePlugins` (framework/runtime/framework.go, 1.36), whose error texts these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubesched.framework.failure import PluginError, guard
from kubesched.framework.interface import MAX_SCORE, Normalize, Points, Score

if TYPE_CHECKING:
    from kubesched.framework.alike import LocalPoints
    from kubesched.framework.cycle import Cycle
    from kubesched.state.view import View


class Weighted(NamedTuple):
    """A Score plugin with its weight and, if it has one, its normalisation."""

    plugin: Score
    weight: int
    normalize: Normalize | None

    def raw(self, cycle: Cycle, view: View) -> Points:
        """The plugin's own points. Raises PluginError."""
        text = f'running Score plugins: plugin "{self.plugin.name}" failed with'
        return guard(text, self.plugin.score, cycle, view)

    def normalized(self, cycle: Cycle, view: View, raw: Points) -> Points:
        """Points in 0..100 times the weight. Raises PluginError."""
        if self.normalize is not None:
            text = f'running Normalize on Score plugins: plugin "{self.plugin.name}" failed with'
            raw = guard(text, self.normalize.normalize, cycle, view, raw)
        if (raw.view(np.uint64) > MAX_SCORE).any():  # seen so, a negative number is a large one
            wrong = raw[(raw < 0) | (raw > MAX_SCORE)][0]
            raise PluginError(
                f'applying score defaultWeights on Score plugins: plugin "{self.plugin.name}" returns an '
                f"invalid score {wrong}, it should in the range of [0, {MAX_SCORE}] after normalizing"
            )
        return raw if self.weight == 1 else raw * self.weight

    def points(self, cycle: Cycle, view: View) -> Points:
        """Score, normalise and weigh. Raises PluginError."""
        return self.normalized(cycle, view, self.raw(cycle, view))


def local_points(cycle: Cycle, known: LocalPoints, items: Sequence[Weighted], view: View) -> None:
    """Work out the points of signing plugins on some nodes."""
    fixed = np.zeros(len(view), np.int64)
    for item in items:
        if item.normalize is None:
            fixed += item.points(cycle, view)
        else:
            known.raw[item.plugin.name].set(view.rows, item.raw(cycle, view))
    known.fixed[view.rows] = fixed
