"""Runs an assertion against a living history: `within` and `holds`, once for all operations.

Every revision that arrives is judged by itself and at once, so a state that lasts for one revision only
cannot slip through between two looks.
"""

from __future__ import annotations

import asyncio

from schedlab import timing
from schedlab.history.entries import Entry
from schedlab.history.history import History
from schedlab.operations.base import Check, Met, Never, NotYet, Outcome, Unmet


async def evaluate(history: History, check: Check, within: float, holds: float = 0.0) -> Met:
    """The outcome once `check` is met and has stayed so for `holds` seconds.

    Raises:
        Unmet: it was not met within `within` seconds, cannot be met any more, or did not stay so.
    """
    started = timing.monotonic()
    met = await _next(history, check, within, stop_at=(Met, Never))
    if not isinstance(met, Met):
        raise Unmet(met, waited=timing.monotonic() - started)
    if holds > 0:
        broken = await _next(history, check, holds, stop_at=(NotYet, Never))
        if not isinstance(broken, Met):
            raise Unmet(broken, broke=True, waited=timing.monotonic() - started)
        return broken
    return met


async def _next(
    history: History, check: Check, seconds: float, stop_at: tuple[type[Outcome], ...]
) -> Outcome:
    """The first outcome of one of the types, or the last outcome when the time is up."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Outcome] = loop.create_future()

    def look(_entry: Entry | None = None) -> None:
        if found.done():
            return
        try:
            outcome = check(history)
        except Exception as error:  # noqa: BLE001 - handed to the waiter below, who raises it
            found.set_exception(error)
            return
        if isinstance(outcome, stop_at):
            found.set_result(outcome)

    unsubscribe = history.subscribe(look)
    try:
        look()
        done, _ = await asyncio.wait({found}, timeout=seconds)
        return found.result() if done else check(history)
    finally:
        unsubscribe()
        found.cancel()
