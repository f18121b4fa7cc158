"""Why a pod fits where it fits: one verdict per world, decoded only when somebody asks.

The arrays say which plugin rejected a world and with which private code; a message, a hint, preemption or
explain turns codes into Status values, each distinct code once. Follows upstream `framework.Diagnosis`,
`NodeToStatus` and `FitError` (framework/types.go, 1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.framework.failure import PluginError
from kubesched.framework.status import Code, Status

if TYPE_CHECKING:
    from kubesched.framework.cycle import Cycle
    from kubesched.state.view import View

NOT_LOOKED_AT = Status(Code.UnschedulableAndUnresolvable)
PASSED = -1
"""In `Diagnosis.plugin`: no plugin rejected the world."""


@dataclass(slots=True)
class Diagnosis:
    """The verdicts on K worlds, and what the extension points around Filter added.

    `plugin[k]` indexes `cycle.framework.filters`, or is PASSED; `code[k]` is that plugin's code, negative
    for an Error. `extra` has statuses by row for nodes outside `view` or rejected by others than filters.
    `absent` is the status of every node of the cluster that was not looked at.
    """

    cycle: Cycle
    view: View
    plugin: NDArray[np.int16]
    code: NDArray[np.int64]
    extra: dict[int, Status] = field(default_factory=dict)
    absent: Status = NOT_LOOKED_AT
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""
    _feasible: NDArray[np.intp] | None = None
    _everything: bool = False
    _decoded: dict[tuple[int, int], Status] = field(default_factory=dict)

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which worlds can hold the pod."""
        return np.equal(self.plugin, PASSED)

    @property
    def feasible(self) -> NDArray[np.intp]:
        """The positions of the worlds that can hold the pod."""
        if self._feasible is None:
            passed = self.plugin == PASSED
            self._everything = bool(passed.all())
            self._feasible = np.arange(len(passed)) if self._everything else np.flatnonzero(passed)
        return self._feasible

    @property
    def feasible_view(self) -> View:
        """The worlds that can hold the pod."""
        worlds = self.feasible
        return self.view if self._everything else self.view.take(worlds)

    @property
    def processed(self) -> int:
        """How many nodes were looked at, one way or another."""
        if not self.extra:
            return len(self.plugin)
        rejected: list[int] = self.view.rows[self.plugin != PASSED].tolist()
        return len(self.feasible) + len(self.extra.keys() | set(rejected))

    def narrow(self, worlds: NDArray[np.intp], statuses: dict[int, Status]) -> None:
        """Leave only these worlds feasible, in this order; `statuses` by row say why others are not."""
        self._feasible, self._everything = worlds, False
        self.extra.update(statuses)

    def status_at(self, k: int) -> Status | None:
        """The rejection of world k, or None when it passed."""
        plugin = int(self.plugin[k])
        return None if plugin == PASSED else self._decode(plugin, int(self.code[k]))

    def raise_error(self) -> None:
        """Raise PluginError if a plugin failed on some world, for the first one."""
        if self.code.min(initial=0) < 0:
            k = int(np.flatnonzero(self.code < 0)[0])
            raise PluginError(self._decode(int(self.plugin[k]), int(self.code[k])).message)

    def statuses(self) -> dict[int, Status]:
        """The explicit rejections by row, in the order in which the worlds were looked at."""
        found = dict(self.extra)
        rows = self.view.rows
        for k in np.flatnonzero(self.plugin != PASSED):
            found[int(rows[k])] = self._decode(int(self.plugin[k]), int(self.code[k]))
        return found

    def rows_with(self, code: Code) -> list[int]:
        """The rows whose status has `code`; rows never looked at count with the absent status."""
        explicit = self.statuses()
        if self.absent.code is not code:
            return [row for row, status in explicit.items() if status.code is code]
        order: list[int] = self.cycle.cluster.nodes.order.tolist()
        return [row for row in order if explicit.get(row, self.absent).code is code]

    def blame(self) -> None:
        """Collect the plugins that rejected some world; the queue wakes the pod by their hints."""
        for status, _ in self._groups():
            self.blame_one(status)

    def blame_one(self, status: Status) -> None:
        """Hold the plugin of one status responsible."""
        if status.plugin and status.is_rejected:
            self.unschedulable_plugins.add(status.plugin)
            if status.code is Code.Pending:
                self.pending_plugins.add(status.plugin)

    def message(self, total: int) -> str:
        """The text of the PodScheduled condition, over `total` nodes.

        Every reason of every node counts; the histogram sorts as strings, so "10 x" precedes "2 x".
        """
        if self.pre_filter_message:
            text = f"0/{total} nodes are available: {self.pre_filter_message}."
        else:
            text = _message(self._groups(), total, self.absent)
        return f"{text} {self.post_filter_message}" if self.post_filter_message else text

    def _groups(self) -> Iterator[tuple[Status, int]]:
        rejected = self.plugin != PASSED
        if self.extra:
            inside = set(self.view.rows[rejected].tolist())
            yield from ((status, 1) for row, status in self.extra.items() if row not in inside)
        for plugin in np.unique(self.plugin[rejected]).tolist():
            codes, times = np.unique(self.code[self.plugin == plugin], return_counts=True)
            for code, count in zip(codes.tolist(), times.tolist(), strict=True):
                yield self._decode(plugin, code), count

    def _decode(self, plugin: int, code: int) -> Status:
        status = self._decoded.get((plugin, code))
        if status is None:
            decoder = self.cycle.framework.filters[plugin]
            status = decoder.status(self.cycle, code).by(decoder.name)
            if code < 0:
                status = replace(
                    status, reasons=(f'running "{decoder.name}" filter plugin: {status.message}',)
                )
            self._decoded[plugin, code] = status
        return status


def histogram_message(statuses: Iterable[Status], total: int, absent: Status = NOT_LOOKED_AT) -> str:
    """The text about `total` nodes of which each status tells one; `absent` is said of the rest."""
    return _message(((status, 1) for status in statuses), total, absent)


def _message(groups: Iterable[tuple[Status, int]], total: int, absent: Status) -> str:
    counts: Counter[str] = Counter()
    seen = 0
    for status, times in groups:
        seen += times
        for reason in status.reasons:
            counts[reason] += times
    if seen < total:
        for reason in absent.reasons:
            counts[reason] += total - seen
    lines = sorted(f"{times} {reason}" for reason, times in counts.items())
    return (
        f"0/{total} nodes are available: {', '.join(lines)}." if lines else f"0/{total} nodes are available:"
    )
