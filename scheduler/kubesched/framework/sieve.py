"""Worlds on their way through the filters: who rejected which, and which are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.framework.diagnosis import PASSED

if TYPE_CHECKING:
    from kubesched.state.view import View


class Sieve:
    """`view` holds the worlds that are left; `by` and `code` tell of all, as in Diagnosis."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.by: NDArray[np.int16] = np.full(len(view), PASSED, np.int16)
        self.code: NDArray[np.int64] = np.zeros(len(view), np.int64)
        self.left = len(view)
        """How many worlds are left."""
        self._alive: NDArray[np.intp] | None = None

    def start(self, by: NDArray[np.int16], code: NDArray[np.int64]) -> None:
        """Begin with what is known per slot."""
        rows = self.view.rows
        self.by, self.code = by.take(rows), code.take(rows)
        self._leave(np.flatnonzero(self.by == PASSED))

    def reject(self, index: int, codes: NDArray[np.int64] | None) -> None:
        """Take over the codes of a filter on the worlds that are left; None is all zeros."""
        if codes is None or not codes.any():
            return
        bad = np.flatnonzero(codes)
        where = bad if self._alive is None else self._alive[bad]
        self.by[where] = index
        self.code[where] = codes[bad]
        self._leave(np.flatnonzero(codes == 0))

    def _leave(self, good: NDArray[np.intp]) -> None:
        if len(good) < self.left:
            self.left = len(good)
            self._alive = good if self._alive is None else self._alive[good]
            self.view = self.view.take(good)
