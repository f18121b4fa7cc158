"""`scheduler`: replicas of the scheduler under test are started, signalled, waited for."""

from __future__ import annotations

import signal as signals
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schedlab.api.objects import Json
from schedlab.history.history import History
from schedlab.history.leases import identities
from schedlab.operations.base import Action, Env, Met, Never, NotYet, OperationError, Outcome, TimeoutKind
from schedlab.suite.types import Positive

Signal = Literal["KILL", "TERM", "STOP", "CONT", "INT", "HUP"]


class Scheduler(Action):
    """Start replicas of the scheduler under test, signal one, restart one, or wait for one to end.

    Several replicas need leader election: set `spec.scheduler.config.leaderElection`. From its first use on,
    the test manages the processes itself, so that one that ends does not make the test inconclusive.
    `replicas` binds the list of all that live, `restart` the name of the new process.

    ```yaml
    - scheduler: {replicas: 3}
    - scheduler: {signal: KILL, identity: ($first.holder)}
    - scheduler: {signal: TERM, process: ($first.process), exits: 0}
    - scheduler: {restart: true, process: ($first.process)}
    - scheduler: {replicas: 2, program: kube-scheduler}        # mixed replicas on one lease
    ```
    """

    tag: ClassVar[str] = "scheduler"
    judges: ClassVar[bool] = True
    timeout_kind: ClassVar[TimeoutKind] = "nodes"

    replicas: Annotated[
        Positive | None, Meta(description="How many shall live; those that are missing are started.")
    ] = None
    program: Annotated[
        str | None,
        Meta(description="With `replicas`: start this scheduler (name or file) beside the one under test."),
    ] = None
    process: Annotated[
        str | None, Meta(description="Which process: a name from `replicas` or `leader`. This or `identity`.")
    ] = None
    identity: Annotated[
        str | None, Meta(description="Which process: the one that wrote this holderIdentity into a lease.")
    ] = None
    signal: Annotated[Signal | None, Meta(description="The signal to send.")] = None
    exits: Annotated[
        int | None,
        Meta(description="Wait until it has ended, with this exit code (negative: by this signal)."),
    ] = None
    restart: Annotated[bool, Meta(description="Start another process in the place of one that ended.")] = (
        False
    )

    async def run(self, env: Env, seconds: float) -> Json:
        """Start, or else signal, wait and restart, in this order."""
        if self.replicas is not None:
            return await env.replicas.scale(self.replicas, self.program)
        name = self._which(env)
        if self.signal is not None:
            env.replicas.signal(name, signals.Signals[f"SIG{self.signal}"])
        if self.exits is not None:
            code = self.exits
            await env.until(lambda history: exited(history, name, code), seconds)
        return await env.replicas.restart(name) if self.restart else name

    def _which(self, env: Env) -> str:
        if (self.process is None) == (self.identity is None):
            raise OperationError(
                "give `replicas`, or one of `process` and `identity`", hint="say which process is meant"
            )
        if self.process is not None:
            return self.process
        known = identities(env.history)
        if self.identity not in known:
            raise OperationError(
                f"no process of this test has written the identity {self.identity!r} into a lease",
                hint=f"known are {', '.join(sorted(known)) or 'none'}",
            )
        return known[self.identity]


def exited(history: History, process: str, code: int) -> Outcome:
    """Met once a process has ended with an exit code; Never if it has ended with another."""
    expected = f"{process} ended with exit code {code}"
    for event in reversed(history.processes):
        if event.process == process and event.event == "exited":
            if event.code == code:
                return Met(expected)
            return Never(expected, f"it ended with exit code {event.code}", event.at)
    return NotYet(expected, "it runs")
