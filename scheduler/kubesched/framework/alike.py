"""What was worked out for a pod, kept for the next pods that are like it.

Pods of one workload come one after the other, and between two of them few nodes change. A plugin that signs
(`interface.Signed`) says what its answers about a node follow from: the pod's signature and that node. For
pods of one signature its PreFilter and PreScore are not asked again, and its Filter and Score only about the
nodes that changed. Plugins that do not sign, or not this pod, are asked as ever; so nothing here can give an
answer that a fresh calculation would not. Upstream's opportunistic batching (KEP-5598) knows the same
signatures, but only holds while the node that was just used no longer fits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.framework.diagnosis import PASSED
from kubesched.framework.failure import PluginError
from kubesched.framework.status import Code, Status
from kubesched.state import View

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.framework.cycle import Cycle, Slot
    from kubesched.framework.interface import Plugin, PreFilter, PreScore
    from kubesched.state import ClusterReader

Sign: TypeAlias = "Callable[[Pod], Hashable | None]"
Slots: TypeAlias = "dict[Slot[Any], object]"

P = TypeVar("P", bound="Plugin")
_MOST = 32
"""How many signatures are kept: at 5,000 nodes each takes about 300 kB."""


class Alike:
    """The memory of one profile, by signature; what is seen once is not remembered yet."""

    def __init__(self, signs: Mapping[str, Sign]) -> None:
        self._names, self._signs = tuple(signs), tuple(signs.values())
        self._known: dict[Hashable, Memory | None] = {}

    def to(self, pod: Pod) -> Memory | None:
        """What is kept for pods like this one; None for the first of its kind. Raises PluginError."""
        if not self._signs:
            return None
        try:
            signature = tuple([sign(pod) for sign in self._signs])
        except Exception as failure:
            raise PluginError(f"signing the pod: {failure}") from failure
        if signature not in self._known:
            if len(self._known) >= _MOST:
                del self._known[next(iter(self._known))]
            self._known[signature] = None
            return None
        memory = self._known.pop(signature)
        if memory is None:
            signed = zip(self._names, signature, strict=True)
            memory = Memory(frozenset(name for name, part in signed if part is not None))
        self._known[signature] = memory
        return memory


class Kept(Generic[P]):
    """What the signing plugins did where plugins prepare, in its place among what the others do."""

    def __init__(self) -> None:
        self.skipped: frozenset[str] = frozenset()
        self.steps: Sequence[tuple[Slots, P]] | None = None
        """Whom every pod has to ask, with what is put into its cycle before; None while nothing is kept."""
        self.tail: Slots = {}
        """What is put into the cycle at the end."""


class Asking(Generic[P]):
    """One pod's turn where plugins prepare: whom to ask, who skips, and what to keep of the answers.

    What a signing plugin put comes into the cycle when its turn would be, so that a plugin before it that
    rejects the pod outright leaves the same traces as ever.
    """

    def __init__(self, cycle: Cycle, plugins: Sequence[P], kept: Kept[P] | None) -> None:
        self.skipped: set[str] = set()
        self._cycle, self._plugins = cycle, plugins
        self._known: Kept[P] | None = None
        self._recording: Kept[P] | None = None
        if kept is None:
            return
        if kept.steps is not None:
            self._known = kept
            self.skipped |= kept.skipped
            return
        self._recording = kept
        self._steps: list[tuple[Slots, P]] = []
        self._slots: Slots = {}
        self._quiet: set[str] = set()
        self._mark = cycle.size

    def __iter__(self) -> Iterator[P]:
        known, cycle = self._known, self._cycle
        if known is None or known.steps is None:
            yield from self._plugins
            return
        for slots, plugin in known.steps:
            cycle.adopt(slots)
            yield plugin
        cycle.adopt(known.tail)

    def note(self, plugin: P, answer: object) -> None:
        """Keep a signing plugin's answer, unless it concerns others, as a rejection does."""
        cycle = self._cycle
        if self._recording is None or cycle.memory is None:
            return
        put = cycle.put_since(self._mark)
        self._mark = cycle.size
        if plugin.name not in cycle.memory.local:
            self._steps.append((self._slots, plugin))
            self._slots = {}
            return
        self._slots |= put
        if isinstance(answer, Status) and answer.code is Code.Skip:
            self._quiet.add(plugin.name)
        elif answer is not None:
            self._recording = None

    def end(self) -> None:
        """All were asked and nobody objected: from now on the next pods need not ask those that signed."""
        kept = self._recording
        if kept is not None:
            kept.steps, kept.tail, kept.skipped = self._steps, self._slots, frozenset(self._quiet)


class _PerNode:
    """Numbers per slot, brought up to date for the nodes that changed since the last time."""

    def __init__(self) -> None:
        self._generation = -1
        self._capacity = -1
        self._doubtful = False

    def doubt(self) -> None:
        """Use what is being worked out for this pod alone: a plugin failed on a node, and may not again."""
        self._doubtful = True

    def refresh(self, cluster: ClusterReader, work: Callable[[View], None]) -> None:
        """Have the nodes worked out that are not up to date; nothing is lost when `work` raises."""
        nodes = cluster.nodes
        latest = nodes.latest
        if self._generation == latest and self._capacity == nodes.capacity:
            return
        rows = nodes.changed_since(self._generation) if self._capacity == nodes.capacity else None
        if rows is None:
            self._capacity = -1
            self.begin(nodes.capacity)
            rows = nodes.order
        if len(rows):
            work(View(cluster, rows))
        self._generation, self._capacity = latest, -1 if self._doubtful else nodes.capacity
        self._doubtful = False

    def begin(self, capacity: int) -> None:
        """Forget all nodes, and make room."""
        raise NotImplementedError


class Verdicts(_PerNode):
    """Which of the leading signing filters rejects each node, and with which code."""

    def __init__(self) -> None:
        super().__init__()
        self.by: NDArray[np.int16] = np.zeros(0, np.int16)
        self.code: NDArray[np.int64] = np.zeros(0, np.int64)
        self.all_pass = True
        """No node is rejected. It may be False for the sake of a node that is gone."""

    def begin(self, capacity: int) -> None:
        """All pass until they are worked out."""
        self.by = np.full(capacity, PASSED, np.int16)
        self.code = np.zeros(capacity, np.int64)

    def set(self, rows: NDArray[np.int32], by: NDArray[np.int16], code: NDArray[np.int64]) -> None:
        """Take over the verdicts on some nodes."""
        self.by[rows] = by
        self.code[rows] = code
        if (code < 0).any():
            self.doubt()
        self.all_pass = bool((self.by == PASSED).all())


class Raw:
    """One plugin's raw scores per slot; `same` is the score of all nodes, if they have one."""

    def __init__(self, capacity: int) -> None:
        self.values: NDArray[np.int64] = np.zeros(capacity, np.int64)
        self.same: int | None = None
        self.fresh = True

    def set(self, rows: NDArray[np.int32], scores: NDArray[np.int64]) -> None:
        """Take over the scores of some nodes."""
        self.values[rows] = scores
        first = int(scores[0])
        if self.fresh:
            self.fresh, self.same = False, first
        if self.same is not None and not (scores == self.same).all():
            self.same = None

    def of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The scores of some nodes; a single one where all nodes have it."""
        return self.values.take(rows) if self.same is None else np.array([self.same], np.int64)


class LocalPoints(_PerNode):
    """What the signing Score plugins give each node.

    `fixed` is the weighted sum of those that do not normalise, `raw` the scores of each that does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fixed: NDArray[np.int64] = np.zeros(0, np.int64)
        self.raw: dict[str, Raw] = {}

    def begin(self, capacity: int) -> None:
        """Nobody has any points until they are worked out."""
        self.fixed = np.zeros(capacity, np.int64)
        self.raw = defaultdict(lambda: Raw(capacity))


class Memory:
    """What is kept for one signature. `local` are the plugins that signed."""

    def __init__(self, local: frozenset[str]) -> None:
        self.local = local
        self.pre_filter: Kept[PreFilter] = Kept()
        self.pre_score: Kept[PreScore] = Kept()
        self.verdicts = Verdicts()
        self.points = LocalPoints()
