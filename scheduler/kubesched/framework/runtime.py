"""One profile at work: its plugins in order at each extension point, and how each point runs.

Status algebra, order and error texts follow upstream `framework/runtime/framework.go` (1.36). Exceptions of
plugins become PluginError with those texts; nothing is swallowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.framework.alike import Alike, Asking
from kubesched.framework.at_once import at_once
from kubesched.framework.binding_points import BindingPoints
from kubesched.framework.extending import EXTENDER
from kubesched.framework.failure import PluginError, guard, guard_async
from kubesched.framework.hints import EVERYTHING, always_queue, hint_map
from kubesched.framework.interface import (
    Filter,
    HintFn,
    NodeNames,
    PostFilter,
    PostFilterResult,
    PreEnqueue,
    PreFilter,
    PreScore,
    QueueSort,
)
from kubesched.framework.sieve import Sieve
from kubesched.framework.status import Code, Status, error, unresolvable
from kubesched.framework.weighted import Weighted, local_points

if TYPE_CHECKING:
    from kubesched.framework.alike import Verdicts
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
    alike: Alike = field(default_factory=lambda: Alike({}))
    rejectors: Sequence[Registered] = ()
    listed: dict[str, list[str]] = field(default_factory=dict)

    @property
    def hints(self) -> dict[ClusterEvent, list[tuple[str, HintFn]]]:
        """Which plugin wants to hear of which event, worked out anew each time; the queue keeps it.

        Raises RegistrationError for an event that is none.
        """
        found = hint_map(self.rejectors)
        if self.extenders:
            for registered in EVERYTHING:
                found.setdefault(registered.event, []).append((EXTENDER, always_queue))
        return found

    def for_attempt(self) -> Framework:
        """The framework that the next attempt runs under; see `framework.measured`."""
        return self

    def filtering(self, work: Callable[[], Diagnosis]) -> Diagnosis:
        """Run all filters on all nodes of an attempt; see `framework.measured`."""
        return work()

    def run_pre_filter(self, cycle: Cycle) -> PreFiltered:
        """Ask every PreFilter plugin; after Unschedulable the others still run: preemption needs them.

        Those that signed were asked for an earlier pod that is like this one.
        """
        names: frozenset[str] | None = None
        narrowing: set[str] = set()
        rejection: Status | None = None
        memory = cycle.memory = self.alike.to(cycle.pod)
        asking = Asking(cycle, self.pre_filters, memory.pre_filter if memory else None)
        try:
            for plugin in asking:
                answer = guard(f'running PreFilter plugin "{plugin.name}"', plugin.pre_filter, cycle)
                asking.note(plugin, answer)
                if answer is None:
                    continue
                if isinstance(answer, NodeNames):
                    narrowing.add(plugin.name)
                    names = answer.names if names is None else names & answer.names
                    if not names:
                        return PreFiltered(_narrowed_to_nothing(narrowing), names, frozenset(narrowing))
                elif answer.code is Code.Skip:
                    asking.skipped.add(plugin.name)
                elif answer.code is Code.UnschedulableAndUnresolvable:
                    return PreFiltered(answer.by(plugin.name), None, frozenset())
                elif answer.code is Code.Unschedulable:
                    rejection = answer.by(plugin.name)
                elif answer.code is not Code.Success:
                    raise PluginError(f'running PreFilter plugin "{plugin.name}": {answer.message}')
        finally:
            cycle.skip_filter = frozenset(asking.skipped)
        asking.end()
        return PreFiltered(rejection, names, frozenset(narrowing))

    def run_filter(self, cycle: Cycle, view: View) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Run the filters in order, each on the worlds that survived those before it.

        Gives per world the index of the plugin that rejected it, or PASSED, and that plugin's code. A
        negative code is an Error of the plugin on that world alone: what it means, the caller knows. What the
        leading filters say is remembered for like pods, if they sign; what-ifs are always worked out.
        """
        sieve, memory = Sieve(view), cycle.memory
        if memory is None or view.overlay is not None:
            self._sift(cycle, sieve, 0, len(self.filters))
            return sieve.by, sieve.code
        leading = self._leading(memory.local)
        known = memory.verdicts
        known.refresh(cycle.cluster, partial(self._know, cycle, known, leading))
        if not known.all_pass:
            sieve.start(known.by, known.code)
        self._sift(cycle, sieve, leading, len(self.filters))
        return sieve.by, sieve.code

    def _leading(self, local: frozenset[str]) -> int:
        """How many filters come before the first that does not sign."""
        others = (index for index, plugin in enumerate(self.filters) if plugin.name not in local)
        return next(others, len(self.filters))

    def _know(self, cycle: Cycle, known: Verdicts, leading: int, view: View) -> None:
        """Work out the leading filters on some nodes."""
        sieve = Sieve(view)
        self._sift(cycle, sieve, 0, leading)
        known.set(view.rows, sieve.by, sieve.code)

    def _sift(self, cycle: Cycle, sieve: Sieve, begin: int, end: int) -> None:
        """Run the filters from `begin` up to `end`."""
        for index in range(begin, end):
            if not sieve.left:
                break
            plugin = self.filters[index]
            if plugin.name not in cycle.skip_filter:
                text = f'running "{plugin.name}" filter plugin'
                sieve.reject(index, guard(text, plugin.filter, cycle, sieve.view))

    def run_post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        """Run PostFilter plugins without asking extenders."""
        return at_once(self.post_filter(cycle, diagnosis))

    async def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        """Run PostFilter plugins until one succeeds, errs or says that nothing can help."""
        nominated: str | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self.post_filters:
            text = f'running PostFilter plugin "{plugin.name}"'
            try:
                result = guard(text, plugin.post_filter, cycle, diagnosis)
                if result.ask is not None:
                    result = await guard_async(text, result.ask())
            except PluginError as failure:
                result = PostFilterResult(error(str(failure)))
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
        memory = cycle.memory
        asking = Asking(cycle, self.pre_scores, memory.pre_score if memory else None)
        for plugin in asking:
            text = f'running PreScore plugin "{plugin.name}"'
            status = guard(text, plugin.pre_score, cycle, view)
            asking.note(plugin, status)
            if status is None or status.code is Code.Success:
                continue
            if status.code is not Code.Skip:
                raise PluginError(f"{text}: {status.message}")
            asking.skipped.add(plugin.name)
        asking.end()
        cycle.skip_score = frozenset(asking.skipped)

    def run_score(self, cycle: Cycle, view: View) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Score, normalise and weigh; gives the plugins that took part and their points, one row each."""
        active = [item for item in self.scores if item.plugin.name not in cycle.skip_score]
        points = np.empty((len(active), len(view)), np.int64)
        for index, item in enumerate(active):
            points[index] = item.points(cycle, view)
        return tuple(item.plugin.name for item in active), points

    def run_total(self, cycle: Cycle, view: View) -> NDArray[np.int64]:
        """The sum of all points alone, of which that of signing plugins is remembered for like pods."""
        memory = cycle.memory
        active = [item for item in self.scores if item.plugin.name not in cycle.skip_score]
        if memory is None or view.overlay is not None:
            return sum((item.points(cycle, view) for item in active), np.zeros(len(view), np.int64))
        local = [item for item in active if item.plugin.name in memory.local]
        known = memory.points
        known.refresh(cycle.cluster, partial(local_points, cycle, known, local))
        total: NDArray[np.int64] = known.fixed.take(view.rows)
        for item in active:
            if item.plugin.name not in memory.local:
                total += item.points(cycle, view)
            elif item.normalize is not None:
                total += item.normalized(cycle, view, known.raw[item.plugin.name].of(view.rows))
        return total


def _narrowed_to_nothing(plugins: set[str]) -> Status:
    if len(plugins) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {next(iter(plugins))}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) {go_list(plugins)} simultaneously")


def go_list(names: set[str] | frozenset[str]) -> str:
    """The names as Go prints a sorted list, since messages carry it: [A B]."""
    return f"[{' '.join(sorted(names))}]"
