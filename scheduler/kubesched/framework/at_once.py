"""A coroutine that waits for nobody, run as a plain function.

Scheduling waits only for HTTP extenders. Where none is asked, the same code answers at once: in explain, in a
dry run, and in every cycle of a scheduler without extenders.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits. Raises RuntimeError if it does."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("this answer has to wait for somebody outside the process")
