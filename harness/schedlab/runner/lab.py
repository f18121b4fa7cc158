"""All control planes of one pytest process: one at a time, booted when the first test needs it.

Tests come sorted by scheduler and by what they need of the control plane, so each one that is booted serves
all the tests that it can.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from schedlab.cluster.backend import Backend
from schedlab.errors import EnvironmentStartError
from schedlab.runner.execution import UNHURRIED, Pace
from schedlab.runner.result import Result
from schedlab.runner.run_test import Order, run_test
from schedlab.runner.station import Station
from schedlab.schedulers.declaration import SchedulerSpec
from schedlab.suite.plan import Test


class Lab:
    """Where tests are run, one after the other; for code that is not asynchronous itself."""

    def __init__(self, backend: Backend, directory: Path, worker: str = "") -> None:
        self._backend = backend
        self._directory = directory
        self._worker = worker
        self._loop = asyncio.Runner()
        self._station: Station | None = None
        self._booted = 0
        self._broken: dict[tuple[str, str], EnvironmentStartError] = {}

    def run(
        self,
        test: Test,
        scheduler: SchedulerSpec,
        *,
        disabled: tuple[str, ...] = (),
        mutation: str = "",
        pace: Pace = UNHURRIED,
        attempts: int = 1,
        allow_scripts: bool = False,
        repeat: int = 0,
        progress: Callable[[str], None] = lambda _text: None,
    ) -> Result:
        """The result of a test; one that fails is run up to `attempts` times, and flaky if it then passes."""

        def once(attempt: int) -> Result:
            order = Order(
                test=test,
                directory=self._place(test, scheduler, mutation, repeat, attempt),
                disabled=disabled,
                mutation=mutation,
                pace=pace,
                allow_scripts=allow_scripts,
                progress=progress,
            )
            return self._once(order, scheduler)

        result = once(1)
        for attempt in range(2, attempts + 1):
            if result.verdict != "fail":
                break
            again = once(attempt)
            if again.verdict == "pass":
                result = msgspec.structs.replace(result, verdict="flaky", attempts=attempt)
            else:
                result = msgspec.structs.replace(again, attempts=attempt)
        return result

    def _once(self, order: Order, scheduler: SchedulerSpec) -> Result:
        try:
            return self._loop.run(self._on_station(order, scheduler))
        except EnvironmentStartError as error:
            return Result(
                test=order.test.id,
                path=str(order.test.path),
                scheduler=scheduler.name,
                verdict="inconclusive",
                reason=error.render(),
                mutation=order.mutation,
                environment=_key(order.test, scheduler) in self._broken,
            )

    def _place(self, test: Test, scheduler: SchedulerSpec, mutation: str, repeat: int, attempt: int) -> Path:
        suffix = re.sub(r"[^A-Za-z0-9.]+", "-", f" {mutation}") if mutation else ""
        suffix += f"-run-{repeat}" if repeat else ""
        suffix += f"-attempt-{attempt}" if attempt > 1 else ""
        return self._directory / scheduler.name / test.area / f"{test.full_name}{suffix}"

    async def _on_station(self, order: Order, scheduler: SchedulerSpec) -> Result:
        key = _key(order.test, scheduler)
        if key in self._broken:
            raise self._broken[key]
        station = await self._ready(order, scheduler)
        return await run_test(station, order)

    async def _ready(self, order: Order, scheduler: SchedulerSpec) -> Station:
        """The station for a scheduler: the present one if it is fit, else a new one."""
        old = self._station
        if (
            old is not None
            and old.spec.name == scheduler.name
            and old.needs == order.test.spec.control_plane
            and not old.spoilt
            and old.recorder.failed() is None
        ):
            return old
        self._station = None
        order.progress("booting a control plane")
        closing = asyncio.create_task(old.close()) if old is not None else None
        try:
            self._station = await self._boot(order.test, scheduler)
        except EnvironmentStartError as error:
            self._broken[_key(order.test, scheduler)] = error
            raise
        finally:
            if closing is not None:
                await closing
        return self._station

    async def _boot(self, test: Test, scheduler: SchedulerSpec) -> Station:
        self._booted += 1
        name = "-".join(part for part in (scheduler.name, self._worker, str(self._booted)) if part)
        directory, needs = self._directory / "control-planes" / name, test.spec.control_plane
        try:
            return await Station.open(self._backend, scheduler, name, directory, needs)
        except EnvironmentStartError as error:
            if not needs:
                raise
            raise EnvironmentStartError(
                f"{test.control_plane}: the control plane does not start in this way: {error.message}",
                hint=error.hint,
            ) from error

    def close(self) -> None:
        """Take everything down."""
        if self._station is not None:
            self._loop.run(self._station.close())
            self._station = None
        self._loop.close()


def _key(test: Test, scheduler: SchedulerSpec) -> tuple[str, str]:
    """Which tests share a control plane: those of one scheduler that need the same of it."""
    return scheduler.name, repr(test.spec.control_plane)
