"""A what-if is a value.

A view is K independent worlds. World k is the cluster with some pods added to, or removed from, node
`rows[k]`; nothing else differs. Advancing worlds gives a new view. The cluster's columns are gathered when
first asked for and never written; a view is good for as long as nothing in the cluster changes, and says so
when it is asked later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from kubesched.api.pod import Pod
from kubesched.state.node_view import NodeView
from kubesched.state.nodes import COUNT, NONZERO, REQUESTED
from kubesched.state.overlay import Advance, Moves, Overlay
from kubesched.state.reader import ClusterReader
from kubesched.state.types import I32, I64

_UNMOVED = Moves()


class StaleViewError(RuntimeError):
    """A view was read after the cluster it looks at had changed."""


class View:
    """K worlds, each over one row of the node columns. Immutable."""

    cluster: ClusterReader
    rows: I32

    def __init__(
        self,
        cluster: ClusterReader,
        rows: npt.ArrayLike,
        *,
        overlay: Overlay | None = None,
        epoch: int | None = None,
    ) -> None:
        self.cluster = cluster
        self.rows = np.asarray(rows, np.int32)
        self.overlay = overlay
        self.epoch = cluster.epoch if epoch is None else epoch
        self._gathered: I64 | None = None

    def __len__(self) -> int:
        """K: the number of worlds."""
        return len(self.rows)

    def __repr__(self) -> str:
        """Tell how many worlds there are, and how many of them differ from the cluster."""
        return f"View({len(self)} worlds, {len(self.moved_worlds())} moved)"

    # Reading

    @property
    def requested(self) -> I64:
        """What the pods on each world's node take: I64[K, R], columns as `nodes.resources`; read only."""
        return self.books[:, REQUESTED]

    @property
    def nonzero(self) -> I64:
        """What they take with defaults for scoring: I64[K, 2], milli cpu and memory bytes; read only."""
        return self.books[:, NONZERO]

    @property
    def pod_count(self) -> I64:
        """How many pods are on each world's node: I64[K]; read only."""
        return self.books[:, COUNT]

    def ports(self) -> I32:
        """The class of the host ports in use in each world: I32[K], to be read with `nodes.port_class`."""
        self._check()
        nodes = self.cluster.nodes
        ids: I32 = nodes.ports.take(self.rows)
        for k in self.moved_worlds():
            if ports := self._world(k).ports:
                taken = frozenset(port for port, is_taken in ports.items() if is_taken)
                used = nodes.port_class(int(ids[k])).difference(ports) | taken
                ids[k] = nodes.port_classes.borrow(used)
        return ids

    def moved(self, count: Callable[[Pod], int]) -> I64:
        """Sum a count over each world's moved pods, added ones plus, removed ones minus: I64[K].

        Where nothing was moved it is zero, without asking.
        """
        total = np.zeros(len(self), np.int64)
        for k in self.moved_worlds():
            total[k] = sum(sign * count(pod) for pod, sign in self._world(k).signed())
        return total

    def pods(self, k: int) -> list[Pod]:
        """The pods on world k's node: the cluster's without the removed ones, then the added ones."""
        self._check()
        moves = self._world(k)
        present = self.cluster.pods.on_node(int(self.rows[k]))
        if moves is _UNMOVED:
            return list(present)
        return [*(pod for pod in present if pod.uid not in moves.removed), *moves.added.values()]

    def node(self, k: int) -> NodeView:
        """World k's node as plain attributes. Raises LookupError for a row without a node."""
        self._check()
        node = self.cluster.nodes.objects[self.rows[k]]
        if node is None:
            raise LookupError(f"row {self.rows[k]} of world {k} has no node")
        return NodeView(self, k, node)

    # Advancing

    def take(self, index: slice | npt.ArrayLike) -> View:
        """Give some of the worlds in the order of the index: a slice, positions, or a mask."""
        chosen = index if isinstance(index, slice) else _positions(index)
        overlay = None if self.overlay is None else self.overlay.take(chosen)
        return View(self.cluster, self.rows[chosen], overlay=overlay, epoch=self.epoch)

    def add(self, worlds: Sequence[int], pods: Sequence[Iterable[Pod]]) -> View:
        """Put pods on the nodes of the named worlds, one list per named world; the others stay as they are.

        Adding a pod that was removed takes the removal back. Raises ValueError for a pod that is there
        already.
        """
        advance = self._advance()
        for k, some in zip(worlds, pods, strict=True):
            advance.add(k, int(self.rows[k]), some)
        return View(self.cluster, self.rows, overlay=advance.done(1), epoch=self.epoch)

    def remove(self, worlds: Sequence[int], pods: Sequence[Iterable[Pod]]) -> View:
        """Take pods off the nodes of the named worlds; the inverse of `add`.

        Raises ValueError for a pod that is not there.
        """
        advance = self._advance()
        for k, some in zip(worlds, pods, strict=True):
            advance.remove(k, int(self.rows[k]), some)
        return View(self.cluster, self.rows, overlay=advance.done(-1), epoch=self.epoch)

    def choose(self, ok: npt.ArrayLike, other: View) -> View:
        """Take each world from this view where `ok` (Bool[K]), else from the other view of the same rows."""
        if not np.array_equal(self.rows, other.rows):
            raise ValueError("the other view must have the same rows")
        if self.overlay is None and other.overlay is None:
            return self
        chosen = self._overlay().choose(np.asarray(ok, np.bool_), other.overlay or self._nothing())
        return View(self.cluster, self.rows, overlay=chosen, epoch=self.epoch)

    @property
    def books(self) -> I64:
        """All that the pods on each world's node add up to, as the columns' books: I64[K, 3 + R]; read only.

        It is gathered when first asked for, and what was moved is added.
        """
        self._check()
        books = self.cluster.nodes.books
        if self._gathered is None or self._gathered.shape[1] != books.shape[1]:
            gathered: I64 = books.take(self.rows, axis=0)
            if self.overlay is not None:
                gathered[:, : self.overlay.amounts.shape[1]] += self.overlay.amounts
            self._gathered = gathered
        return self._gathered

    def _advance(self) -> Advance:
        """Begin to move pods."""
        self._check()
        return Advance(self._overlay(), self.cluster.pods)

    def _overlay(self) -> Overlay:
        """What the worlds differ by, be it nothing."""
        return self.overlay or self._nothing()

    def _nothing(self) -> Overlay:
        """No difference in any world."""
        return Overlay.nothing(len(self), self.cluster.nodes.books.shape[1])

    def moved_worlds(self) -> list[int]:
        """The positions of the worlds in which some pod was moved."""
        return [] if self.overlay is None else self.overlay.moved()

    def _world(self, k: int) -> Moves:
        """What was moved in world k."""
        return _UNMOVED if self.overlay is None else (self.overlay.worlds[k] or _UNMOVED)

    def _check(self) -> None:
        """Refuse to mix two moments of the cluster."""
        if self.epoch != self.cluster.epoch:
            raise StaleViewError(
                f"this view is of epoch {self.epoch}, the cluster is at {self.cluster.epoch}: make a new view"
            )


def _positions(index: npt.ArrayLike) -> npt.NDArray[np.generic]:
    """Read an index; an empty list is no positions, not an empty list of floats."""
    positions = np.asarray(index)
    return (
        positions
        if positions.size
        else positions.astype(np.bool_ if positions.dtype == np.bool_ else np.intp)
    )
