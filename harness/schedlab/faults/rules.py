"""Which requests a fault befalls, and what it does to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schedlab.faults.requests import Asked


@dataclass(frozen=True, slots=True)
class Effect:
    """What happens to a request: one of these, or a delay alone.

    `delay` is in seconds, before anything else. `answer` is a status the server never gave; `retry_after`
    goes with it, in seconds. `cut` breaks the connection, `hang` keeps it open and says nothing, `lose`
    lets the server do what is asked and breaks the connection instead of passing its answer on.
    """

    delay: float = 0.0
    answer: int | None = None
    retry_after: int | None = None
    cut: bool = False
    hang: bool = False
    lose: bool = False


@dataclass(slots=True)
class Fault:
    """A rule: the first fault that matches a request decides.

    Empty `verbs`, `resources` or `processes` match all of them. `skip` requests that match pass unharmed,
    then `times` of them are befallen (None: all).
    """

    effect: Effect
    verbs: Sequence[str] = ()
    resources: Sequence[str] = ()
    processes: Sequence[str] = ()
    skip: int = 0
    times: int | None = None
    name: str = ""
    matched: int = field(default=0, init=False)

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
        return number > 0 and (self.times is None or number <= self.times)


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
        before = len(self._present)
        self._present = [fault for fault in self._present if fault.name != name]
        return len(self._present) < before

    def clear(self) -> None:
        """End all faults."""
        self._present.clear()

    def for_request(self, process: str, what: Asked) -> Effect | None:
        """What befalls a request of a process, if anything does."""
        for fault in self._present:
            if fault.befalls(process, what):
                return fault.effect
        return None
