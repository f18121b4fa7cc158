"""What came of a test: a verdict and the evidence, as plain data that crosses processes."""

from __future__ import annotations

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

    @property
    def title(self) -> str:
        """How the run is called in reports."""
        return f"{self.test}[{' '.join(filter(None, (self.scheduler, self.mutation)))}]"
