"""Which requests a fault befalls, and what it does to them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from schedlab.faults.requests import Asked


@dataclass(frozen=True, slots=True)
class Stream:
    """What happens to an event of a watch that is under way: one of these.

    `duplicate` brings it twice, `reorder` after the one that follows it, `slice` in pieces of so many bytes,
    `stall` not before the fault ends. `tear` breaks the connection in the middle of it. `error` is a status
    that ends the watch in its stead.
    """

    duplicate: bool = False
    reorder: bool = False
    slice: int = 0
    stall: bool = False
    tear: bool = False
    error: int | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What happens to a request: one of these, or a delay alone.

    `delay` is in seconds, before anything else. `answer` is a status the server never gave; `retry_after`
    goes with it, in seconds. `cut` breaks the connection, `hang` keeps it open and says nothing, `lose`
    lets the server do what is asked and breaks the connection instead of passing its answer on. `stream` is
    for watches that have begun.
    """

    delay: float = 0.0
    answer: int | None = None
    retry_after: int | None = None
    cut: bool = False
    hang: bool = False
    lose: bool = False
    stream: Stream | None = None


@dataclass(slots=True)
class Fault:
    """A rule: the first fault that matches a request, or an event of a watch, decides.

    Empty `verbs`, `resources` or `processes` match all of them. `skip` requests that match pass unharmed,
    then `times` of them are befallen (None: all), each with a probability of `chance`, which `seed` decides.
    An effect with a `stream` befalls events instead of requests, and counts events.
    """

    effect: Effect
    verbs: Sequence[str] = ()
    resources: Sequence[str] = ()
    processes: Sequence[str] = ()
    skip: int = 0
    times: int | None = None
    chance: float = 1.0
    seed: int = 0
    name: str = ""
    matched: int = field(default=0, init=False)
    ended: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def concerns(self, process: str, what: Asked) -> bool:
        """True if the rule is about such requests, whichever number this one has."""
        return (
            (not self.processes or process in self.processes)
            and (not self.verbs or what.verb in self.verbs)
            and (not self.resources or what.resource in self.resources)
        )

    def befalls(self, process: str, what: Asked) -> bool:
        """True if this very request is befallen; counts it."""
        if not self.concerns(process, what):
            return False
        self.matched += 1
        number = self.matched - self.skip
        if number <= 0 or (self.times is not None and number > self.times):
            return False
        return _drawn(self.seed, number) < self.chance


class Faults:
    """All faults that are in force now, shared by the proxies of one test."""

    def __init__(self) -> None:
        self._present: list[Fault] = []
        self._made = 0

    def add(self, fault: Fault) -> str:
        """Put a fault in force; returns its name."""
        self._made += 1
        fault.name = f"fault-{self._made}"
        self._present.append(fault)
        return fault.name

    def end(self, name: str) -> bool:
        """End one fault; False if there is none of this name."""
        ended = [fault for fault in self._present if fault.name == name]
        self._present = [fault for fault in self._present if fault.name != name]
        for fault in ended:
            fault.ended.set()
        return bool(ended)

    def clear(self) -> None:
        """End all faults."""
        for fault in self._present:
            fault.ended.set()
        self._present.clear()

    def for_request(self, process: str, what: Asked) -> Effect | None:
        """What befalls a request of a process, if anything does."""
        for fault in self._present:
            if fault.effect.stream is None and fault.befalls(process, what):
                return fault.effect
        return None

    def for_event(self, process: str, what: Asked) -> tuple[Stream, asyncio.Event] | None:
        """What befalls an event of a watch, if anything does, and what is set when that fault has ended."""
        for fault in self._present:
            if fault.effect.stream is not None and fault.befalls(process, what):
                return fault.effect.stream, fault.ended
        return None


def _drawn(seed: int, number: int) -> float:
    """A number from 0 to 1, the same each time for the same seed and number."""
    digest = hashlib.blake2b(f"{seed}/{number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
