"""What came of a test: a verdict and the evidence, as plain data that crosses processes."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

Verdict = Literal["pass", "fail", "flaky", "inconclusive"]


class Failure(msgspec.Struct, frozen=True, rename="camel"):
    """What went wrong: where, what was expected, what was seen, and since when that was so."""

    message: str
    step: str = ""
    operation: str = ""
    position: str = ""
    expected: str = ""
    seen: str = ""
    since: str = ""
    waited: float = 0.0
    assertion: bool = False
    objects: tuple[str, ...] = ()
    events: tuple[str, ...] = ()


class OperationRecord(msgspec.Struct, frozen=True, rename="camel"):
    """One operation that ran."""

    step: str
    block: str
    operation: str
    position: str
    seconds: float
    outcome: Literal["ok", "failed"]
    detail: str = ""
    began: datetime | None = None


class Result(msgspec.Struct, frozen=True, rename="camel"):
    """One test on one scheduler."""

    test: str
    path: str
    scheduler: str
    verdict: Verdict
    seconds: float = 0.0
    reason: str = ""
    failure: Failure | None = None
    operations: tuple[OperationRecord, ...] = ()
    notes: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    artifacts: str = ""
    attempts: int = 1
    mutation: str = ""
    """How the run was made to fail, as it goes on after the test's name; empty for an ordinary run."""
    environment: bool = False
    """Nothing could be said because there was nothing to run on."""
    budget: float = 0.0
    """How many seconds it should take at most; 0 if nobody said."""
    declared: str = ""
    """The file that declares the scheduler, as it was given; empty for one that is known by its name."""
    repeat: int = 0
    """Which of several runs of the same test this is, from 1; 0 if there is only one."""

    @property
    def over_budget(self) -> bool:
        """True if it took longer than it should."""
        return 0 < self.budget < self.seconds

    @property
    def title(self) -> str:
        """How the run is called in reports."""
        return f"{self.test}[{marker(self.scheduler, self.mutation, self.repeat)}]"


def marker(scheduler: str, mutation: str = "", repeat: int = 0) -> str:
    """What tells one run of a test from its other runs: `kubesched`, `kubesched without NodePorts #3`."""
    return " ".join(filter(None, (scheduler, mutation, f"#{repeat}" if repeat else "")))
