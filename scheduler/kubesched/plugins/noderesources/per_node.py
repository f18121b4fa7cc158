"""Numbers that depend on one node and one question alone, kept until the node changes.

Pods of one workload ask the same question one after the other, and between two of them few nodes change: only
those are worked out again. Upstream gets the same effect from batching like pods (`OpportunisticBatching`);
this one never gives an answer that a fresh calculation would not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from kubesched.framework import View

_MOST_QUESTIONS = 128


class _Known:
    """The answers on all nodes as of a generation; none yet."""

    __slots__ = ("generation", "values")

    def __init__(self, capacity: int) -> None:
        self.generation = 0
        self.values: NDArray[np.int64] = np.zeros(capacity, np.int64)


class PerNode:
    """Answers to the latest questions. What is asked for the first time is answered and not remembered."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Known | None] = {}

    def of(
        self, view: View, question: Hashable, work: Callable[[View], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """The answers on the view's worlds; `work` must look at nothing but the question and each node.

        What-ifs are always worked out.
        """
        if view.overlay is not None:
            return work(view)
        if question not in self._known:
            if len(self._known) >= _MOST_QUESTIONS:
                del self._known[next(iter(self._known))]
            self._known[question] = None
            return work(view)
        nodes = view.cluster.nodes
        known = self._known.pop(question)
        if known is None or len(known.values) != nodes.capacity:
            known = _Known(nodes.capacity)
        self._known[question] = known
        changed = np.flatnonzero(nodes.generation > known.generation)
        if changed.size:
            known.values[changed] = work(View(view.cluster, changed))
            known.generation = int(nodes.generation.max())
        return known.values.take(view.rows)
