"""Executes the steps of one test and keeps what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from schedlab import timing
from schedlab.api.objects import Json
from schedlab.errors import SchedlabError
from schedlab.operations import registry
from schedlab.operations.base import Action, Assertion, Operation, OperationError, Scope, Unmet
from schedlab.operations.evaluate import evaluate
from schedlab.runner.environment import Environment
from schedlab.runner.evidence import failure_of
from schedlab.runner.replicas import Replicas
from schedlab.runner.result import Failure, OperationRecord
from schedlab.suite.expressions import ExpressionError, substitute
from schedlab.suite.plan import PlannedOperation, PlannedStep, Test
from schedlab.suite.types import Timeouts

DEFAULTS = {
    "apply": 10.0,
    "assert": 30.0,
    "error": 30.0,
    "delete": 15.0,
    "nodes": 30.0,
    "exec": 5.0,
    "cleanup": 30.0,
}


class SchedulerGone(SchedlabError):  # noqa: N818 - a fact about a process
    """The scheduler under test ended by itself, so nothing can be said."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait; `longest` cuts every `within`, for runs in which tests are expected to fail."""

    longest: float = float("inf")

    @property
    def hurried(self) -> bool:
        """True if failing is expected, so that nobody wants to know why."""
        return self.longest < float("inf")

    def cut(self, seconds: float) -> float:
        """A waiting time, as it is used."""
        return min(seconds, self.longest)


UNHURRIED = Pace()


class Execution:
    """One run of one test's steps."""

    def __init__(
        self,
        test: Test,
        env: Environment,
        replicas: Replicas,
        pace: Pace,
        progress: Callable[[str], None],
    ) -> None:
        self._test = test
        self._env = env
        self._replicas = replicas
        self._pace = pace
        self._progress = progress
        self._bound: dict[int, dict[str, Json]] = {}
        self.records: list[OperationRecord] = []
        self.failure: Failure | None = None

    async def steps(self) -> None:
        """All steps until one fails; then what to show, and in any case what to do finally.

        Raises:
            SchedulerGone: the scheduler has ended.
        """
        try:
            for binding in self._test.spec.bindings:
                self._env.bindings[binding.name] = substitute(binding.value, self._env.bindings)
        except SchedlabError as error:
            self.failure = Failure(message=error.message, step="bindings")
            return
        for step in self._test.steps:
            if not await self._step(step):
                await self._all(step, "catch", self._test.catch)
                return

    async def cleanups(self) -> None:
        """The `cleanup` of each step that was begun, last step first."""
        begun = {record.step for record in self.records}
        for step in reversed(self._test.steps):
            if step.name in begun:
                with self._names_of(step):
                    await self._all(step, "cleanup", step.cleanup)

    @contextmanager
    def _names_of(self, step: PlannedStep) -> Iterator[None]:
        """Bind what the step binds for itself; its values are worked out once.

        Raises:
            ExpressionError: one has none.
        """
        hidden = dict(self._env.bindings)
        if id(step) not in self._bound:
            own: dict[str, Json] = {}
            for binding in step.bindings:
                own[binding.name] = substitute(binding.value, {**self._env.bindings, **own})
            self._bound[id(step)] = own
        own = self._bound[id(step)]
        self._env.bindings.update(own)
        try:
            yield
        finally:
            for name in own:
                self._env.bindings.pop(name)
                if name in hidden:
                    self._env.bindings[name] = hidden[name]

    async def _step(self, step: PlannedStep) -> bool:
        try:
            with self._names_of(step):
                return await self._blocks(step)
        except ExpressionError as error:
            self.failure = Failure(message=error.message, step=step.name)
            return False

    async def _blocks(self, step: PlannedStep) -> bool:
        try:
            for operation in step.try_:
                if not await self._attempt(step, "try", operation):
                    await self._all(step, "catch", step.catch)
                    return False
        finally:
            await self._all(step, "finally", step.finally_)
        return self.failure is None

    async def _all(self, step: PlannedStep, block: str, operations: Sequence[PlannedOperation]) -> None:
        """Operations of which each runs whether or not the one before succeeded; the first failure counts."""
        for operation in operations:
            await self._attempt(step, block, operation)

    async def _attempt(self, step: PlannedStep, block: str, planned: PlannedOperation) -> bool:
        began, started = timing.now(), timing.monotonic()
        self._progress(f"{step.name}: {planned.tag}")
        failed = False
        try:
            detail = await self._guarded(step, planned)
        except SchedulerGone:
            raise
        except SchedlabError as error:
            failed, detail = True, error.message
            if self.failure is None and block != "catch":
                self.failure = failure_of(error, step.name, planned, self._env.history)
                if isinstance(error, Unmet) and not self._pace.hurried:
                    await self._env.account(error.outcome.objects)
        self.records.append(
            OperationRecord(
                step=step.name,
                block=block,
                operation=planned.tag,
                position=str(planned.position),
                seconds=round(timing.monotonic() - started, 3),
                outcome="failed" if failed else "ok",
                detail=detail,
                began=began,
            )
        )
        return not failed

    async def _guarded(self, step: PlannedStep, planned: PlannedOperation) -> str:
        """Run an operation while the scheduler lives.

        Raises:
            SchedulerGone: it ended meanwhile.
        """
        task = asyncio.create_task(self._run(step, planned), name=planned.tag)
        end = asyncio.create_task(self._replicas.ended(), name="scheduler ended")
        try:
            done, _ = await asyncio.wait({task, end}, return_when=asyncio.FIRST_COMPLETED)
            if end in done:
                raise SchedulerGone(end.result(), hint="see its log")
            return task.result()
        finally:
            for pending in (task, end):
                pending.cancel()
            await asyncio.gather(task, end, return_exceptions=True)

    async def _run(self, step: PlannedStep, planned: PlannedOperation) -> str:
        scope = self._env.scope
        operation = self._decoded(planned, scope)
        seconds = self._seconds(step, operation)
        if isinstance(operation, Assertion):
            for api_version, kind in operation.kinds(scope):
                await self._env.writer.include(api_version, kind)
            holds = timing.parse_duration(operation.holds) if operation.holds else 0.0
            met = await evaluate(
                self._env.history,
                lambda history: operation.check(history, scope),
                self._pace.cut(seconds),
                holds,
            )
            if name := getattr(operation, "as_", None):
                self._env.bindings[name] = met.value
            return met.seen
        if isinstance(operation, Action):
            result = await operation.run(self._env, self._pace.cut(seconds))
            if operation.as_ is not None:
                self._env.bindings[operation.as_] = result
        return ""

    def _decoded(self, planned: PlannedOperation, scope: Scope) -> Operation:
        """The operation with its expressions replaced, save those that it evaluates itself."""
        later = registry.own(planned.tag)
        own = {key: value for key, value in planned.fields.items() if key in later}
        rest = {key: value for key, value in planned.fields.items() if key not in later}
        try:
            return registry.decode(planned.tag, {**substitute(rest, scope.bindings), **own})
        except msgspec.ValidationError as error:
            raise OperationError(
                f"{planned.tag}: {error}", hint="an expression gave a value that does not fit"
            ) from error

    def _seconds(self, step: PlannedStep, operation: Operation) -> float:
        """The time that an operation has: its own, the step's, the test's, the default."""
        own = operation.within if isinstance(operation, Assertion) else getattr(operation, "timeout", None)
        kind = operation.timeout_kind
        for given in (own, of_kind(step.timeouts, kind), of_kind(self._test.spec.timeouts, kind)):
            if given is not None:
                return timing.parse_duration(given)
        return DEFAULTS[kind]


def of_kind(timeouts: Timeouts, kind: str) -> str | None:
    """The timeout of a kind of operation, if it is given."""
    value: str | None = getattr(timeouts, "assert_" if kind == "assert" else kind)
    return value
