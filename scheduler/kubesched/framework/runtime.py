"""One profile at work: its plugins in order at each extension point, and how each point runs.

Status algebra, order and error texts follow upstream `framework/runtime/framework.go` (1.36). Exceptions of
plugins become PluginError with those texts; nothing is swallowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.framework.binding_points import BindingPoints
from kubesched.framework.diagnosis import PASSED
from kubesched.framework.failure import PluginError, guard
from kubesched.framework.hints import hint_map
from kubesched.framework.interface import (
    MAX_SCORE,
    Filter,
    HintFn,
    NodeNames,
    Normalize,
    Points,
    PostFilter,
    PostFilterResult,
    PreEnqueue,
    PreFilter,
    PreScore,
    QueueSort,
    Score,
)
from kubesched.framework.status import Code, Status, unresolvable

if TYPE_CHECKING:
    from kubesched.framework.cycle import Cycle
    from kubesched.framework.diagnosis import Diagnosis
    from kubesched.framework.registration import Registered
    from kubesched.state.events import ClusterEvent
    from kubesched.state.view import View


class PreFiltered(NamedTuple):
    """What all PreFilter plugins together say: a rejection, or the nodes that remain (None: all)."""

    status: Status | None
    names: frozenset[str] | None
    plugins: frozenset[str]


class Weighted(NamedTuple):
    """A Score plugin with its weight and, if it has one, its normalisation."""

    plugin: Score
    weight: int
    normalize: Normalize | None


@dataclass(slots=True)
class Framework(BindingPoints):
    """The plugins of one profile; built by `framework.profile.build`."""

    profile: str = ""
    percentage_of_nodes_to_score: int | None = None
    queue_sort: QueueSort | None = None
    pre_enqueues: Sequence[PreEnqueue] = ()
    pre_filters: Sequence[PreFilter] = ()
    filters: Sequence[Filter] = ()
    post_filters: Sequence[PostFilter] = ()
    pre_scores: Sequence[PreScore] = ()
    scores: Sequence[Weighted] = ()
    rejectors: Sequence[Registered] = ()
    listed: dict[str, list[str]] = field(default_factory=dict)

    @property
    def hints(self) -> dict[ClusterEvent, list[tuple[str, HintFn]]]:
        """Which plugin wants to hear of which event, worked out anew each time; the queue keeps it.

        Raises RegistrationError for an event that is none.
        """
        return hint_map(self.rejectors)

    def run_pre_filter(self, cycle: Cycle) -> PreFiltered:
        """Ask every PreFilter plugin; after Unschedulable the others still run: preemption needs them."""
        names: frozenset[str] | None = None
        narrowing: set[str] = set()
        skipped: set[str] = set()
        rejection: Status | None = None
        try:
            for plugin in self.pre_filters:
                answer = guard(f'running PreFilter plugin "{plugin.name}"', plugin.pre_filter, cycle)
                if answer is None:
                    continue
                if isinstance(answer, NodeNames):
                    narrowing.add(plugin.name)
                    names = answer.names if names is None else names & answer.names
                    if not names:
                        return PreFiltered(_narrowed_to_nothing(narrowing), names, frozenset(narrowing))
                elif answer.code is Code.Skip:
                    skipped.add(plugin.name)
                elif answer.code is Code.UnschedulableAndUnresolvable:
                    return PreFiltered(answer.by(plugin.name), None, frozenset())
                elif answer.code is Code.Unschedulable:
                    rejection = answer.by(plugin.name)
                elif answer.code is not Code.Success:
                    raise PluginError(f'running PreFilter plugin "{plugin.name}": {answer.message}')
        finally:
            cycle.skip_filter = frozenset(skipped)
        return PreFiltered(rejection, names, frozenset(narrowing))

    def run_filter(self, cycle: Cycle, view: View) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Run the filters in order, each on the worlds that survived those before it.

        Gives per world the index of the plugin that rejected it, or PASSED, and that plugin's code. A
        negative code is an Error of the plugin.
        """
        size = len(view)
        by = np.full(size, PASSED, np.int16)
        code = np.zeros(size, np.int64)
        alive: NDArray[np.intp] | None = None
        for index, plugin in enumerate(self.filters):
            if plugin.name in cycle.skip_filter:
                continue
            codes = self._filter_once(plugin, cycle, view)
            if codes is None or not codes.any():
                continue
            bad = np.flatnonzero(codes)
            where = bad if alive is None else alive[bad]
            by[where] = index
            code[where] = codes[bad]
            good = np.flatnonzero(codes == 0)
            alive = good if alive is None else alive[good]
            if not alive.size:
                break
            view = view.take(good)
        return by, code

    @staticmethod
    def _filter_once(plugin: Filter, cycle: Cycle, view: View) -> NDArray[np.int64] | None:
        codes = guard(f'running "{plugin.name}" filter plugin', plugin.filter, cycle, view)
        if codes is not None and codes.min(initial=0) < 0:
            status = plugin.status(cycle, int(codes[codes < 0][0]))
            raise PluginError(f'running "{plugin.name}" filter plugin: {status.message}')
        return codes

    def run_post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        """Run PostFilter plugins until one succeeds, errs or says that nothing can help."""
        nominated: str | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self.post_filters:
            result = guard(f'running PostFilter plugin "{plugin.name}"', plugin.post_filter, cycle, diagnosis)
            status = result.status
            if status is None or status.code is Code.Success:
                return result
            if status.code is Code.UnschedulableAndUnresolvable:
                return replace(result, status=status.by(plugin.name))
            if not status.is_rejected:
                return PostFilterResult(Status(Code.Error, (status.message,), plugin.name))
            if result.nominated is not None:
                nominated = result.nominated
            reasons.extend(status.reasons)
            rejector = rejector or plugin.name
        return PostFilterResult(Status(Code.Unschedulable, tuple(reasons), rejector), nominated)

    def run_pre_score(self, cycle: Cycle, view: View) -> None:
        """Prepare the Score plugins for the feasible worlds; remember which of them skip."""
        skipped: set[str] = set()
        for plugin in self.pre_scores:
            text = f'running PreScore plugin "{plugin.name}"'
            status = guard(text, plugin.pre_score, cycle, view)
            if status is None or status.code is Code.Success:
                continue
            if status.code is not Code.Skip:
                raise PluginError(f"{text}: {status.message}")
            skipped.add(plugin.name)
        cycle.skip_score = frozenset(skipped)

    def run_score(self, cycle: Cycle, view: View) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Score, normalise and weigh; gives the plugins that took part and their points, one row each."""
        active = [item for item in self.scores if item.plugin.name not in cycle.skip_score]
        names = tuple(item.plugin.name for item in active)
        points = np.empty((len(active), len(view)), np.int64)
        for index, item in enumerate(active):
            points[index] = self._score_once(item, cycle, view)
        _check_range(names, points)
        points *= np.array([[item.weight] for item in active], np.int64).reshape(-1, 1)
        return names, points

    @staticmethod
    def _score_once(item: Weighted, cycle: Cycle, view: View) -> Points:
        failed = f'plugin "{item.plugin.name}" failed with'
        raw = guard(f"running Score plugins: {failed}", item.plugin.score, cycle, view)
        if item.normalize is None:
            return raw
        text = f"running Normalize on Score plugins: {failed}"
        return guard(text, item.normalize.normalize, cycle, view, raw)


def _check_range(plugins: tuple[str, ...], points: NDArray[np.int64]) -> None:
    """Refuse points outside 0..100, in upstream's words."""
    if not points.size or (points.min() >= 0 and points.max() <= MAX_SCORE):
        return
    index, world = np.argwhere((points < 0) | (points > MAX_SCORE))[0]
    raise PluginError(
        f'applying score defaultWeights on Score plugins: plugin "{plugins[index]}" returns an invalid '
        f"score {points[index, world]}, it should in the range of [0, {MAX_SCORE}] after normalizing"
    )


def _narrowed_to_nothing(plugins: set[str]) -> Status:
    if len(plugins) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {next(iter(plugins))}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) {go_list(plugins)} simultaneously")


def go_list(names: set[str] | frozenset[str]) -> str:
    """The names as Go prints a sorted list, since messages carry it: [A B]."""
    return f"[{' '.join(sorted(names))}]"
