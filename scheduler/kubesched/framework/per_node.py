"""Plugins that look at one node at a time, seen as plugins that look at K worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubesched.framework.cycle import Slot
from kubesched.framework.interface import Codes, NodeFilter, NodeScore, Points
from kubesched.framework.status import Code, Status, error

if TYPE_CHECKING:
    from kubesched.framework.cycle import Cycle
    from kubesched.state.node_view import NodeView
    from kubesched.state.view import View


class NodeFilterAdapter:
    """A Filter made of `filter_node`: equal statuses share a code, so a reason is kept once per cycle."""

    def __init__(self, plugin: NodeFilter) -> None:
        self.name = plugin.name
        self._plugin = plugin
        self._seen: Slot[dict[Status, int]] = Slot(f"{plugin.name} statuses")

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """One code per world; an Error status becomes a negative one."""
        codes = np.zeros(len(view), np.int64)
        for k in range(len(view)):
            status = self._ask(cycle, view.node(k))
            if status is not None and status.code is not Code.Success:
                codes[k] = self._code(cycle, status)
        return codes

    def status(self, cycle: Cycle, code: int) -> Status:
        """The status that got this code in this cycle."""
        seen = cycle.find(self._seen) or {}
        return next(status for status, known in seen.items() if known == code)

    def _ask(self, cycle: Cycle, node: NodeView) -> Status | None:
        """The plugin's answer; an exception concerns this node alone."""
        try:
            return self._plugin.filter_node(cycle, node)
        except Exception as failure:  # noqa: BLE001 - a plugin's bug on one node is that node's Error
            return error(str(failure) or type(failure).__name__)

    def _code(self, cycle: Cycle, status: Status) -> int:
        seen = cycle.find(self._seen)
        if seen is None:
            seen = {}
            cycle.put(self._seen, seen)
        sign = 1 if status.is_rejected else -1
        return seen.setdefault(status, sign * (len(seen) + 1))


class NodeScoreAdapter:
    """A Score made of `score_node`."""

    def __init__(self, plugin: NodeScore) -> None:
        self.name = plugin.name
        self._plugin = plugin

    def score(self, cycle: Cycle, view: View) -> Points:
        """One score per world."""
        nodes = (view.node(k) for k in range(len(view)))
        return np.fromiter((self._plugin.score_node(cycle, node) for node in nodes), np.int64, len(view))
