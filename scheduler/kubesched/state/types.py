"""Array types of the columns. The letters in docstrings: N slots, K worlds, M nodes in order, R resources."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

I64: TypeAlias = npt.NDArray[np.int64]
I32: TypeAlias = npt.NDArray[np.int32]
Bool: TypeAlias = npt.NDArray[np.bool_]


def wide(amounts: I64, width: int) -> I64:
    """Append columns of zeros up to a width, for resources that came up since."""
    missing = width - amounts.shape[1]
    return amounts if missing <= 0 else np.pad(amounts, ((0, 0), (0, missing)))
