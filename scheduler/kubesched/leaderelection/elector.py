"""One replica's part in the election: wait for the lease, hold it while working, lose it or give it back.

A replica never compares another machine's clock with its own. It notes when it saw the lease change, by its
own monotonic clock, and takes over a lease that did not change for as long as the lease says. So clocks may
be wrong by any amount, as long as their rates agree within lease_duration / renew_deadline.

The lease alone cannot keep an old leader's late requests apart from a new leader's. Therefore whoever writes
asks `may_write` first: it is true only for `renew_deadline` after the last renewal that succeeded was *sent*,
also in a process that was stopped and has not yet noticed.

Follows client-go `tools/leaderelection/leaderelection.go` (1.36), with these differences, all on the safe
side: a leader that reads that somebody else holds the lease, or has held it meanwhile, stops at once rather
than at its renew deadline or never; the work is stopped before the lease is released; and a lease is released
only if what was just read still names this replica (upstream looks at what it remembers).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from kubesched import logs
from kubesched.client.timestamps import micros
from kubesched.clock import Clock
from kubesched.leaderelection.lease import LeaseSpec
from kubesched.leaderelection.lock import LeaseError, LeaseLock, NotFoundError, within
from kubesched.leaderelection.settings import JITTER_FACTOR, ElectionSettings

_log = logs.get(__name__)


def _nothing(*_: object) -> None:
    """Nobody wants to hear of it."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Who hears of what; all are called in the loop and must not wait."""

    started: Callable[[], None] = _nothing
    """This replica has become the leader."""
    stopped: Callable[[], None] = _nothing
    """The election is over for this replica; also called if it never led."""
    new_leader: Callable[[str], None] = _nothing
    """Another identity holds the lease than when this was last called; empty if nobody does."""
    event: Callable[[str], None] = _nothing
    """Something to record as a Normal event `LeaderElection` on the lease."""


class LeaderElector:
    """One replica in one election; `run` it once."""

    def __init__(
        self,
        lock: LeaseLock,
        settings: ElectionSettings,
        clock: Clock,
        rng: Random,
        callbacks: Callbacks | None = None,
    ) -> None:
        self._lock = lock
        self._settings = settings
        self._clock = clock
        self._rng = rng
        self._callbacks = callbacks or Callbacks()
        self._observed = LeaseSpec()
        self._observed_at = clock.now()
        self._reported = ""
        self._leading = False
        self._term = 0
        self._write_until = clock.now()
        self.slow_paths = 0
        """Renewals that had to read the lease first: `leader_election_slowpath_total`."""

    # What others may ask

    @property
    def leader(self) -> str:
        """The identity of the leader last observed, empty if none; for people."""
        return self._observed.holder

    @property
    def write_until(self) -> float:
        """The monotonic second at which `may_write` turns false, unless the lease is renewed before."""
        return self._write_until if self._leading else self._clock.now()

    def may_write(self) -> bool:
        """Whether this replica surely holds the lease at this moment."""
        return self._leading and self._clock.now() < self._write_until

    def is_overdue(self, tolerance: float) -> bool:
        """Whether a leader has not renewed for that long beyond the lease: it should have given up."""
        waited = self._clock.now() - self._observed_at
        return self._holds() and waited > self._settings.lease_duration + tolerance

    # The election

    async def run(self, lead: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Wait for the lease, then run `lead` for as long as it is held.

        True: `lead` ended by itself and the lease was released. False: the lease was lost; `lead` has been
        cancelled and has ended. When `run` is cancelled it cancels `lead`, and renews the lease until `lead`
        has finished what it had begun; then it releases the lease. What `lead` raises is passed on, and so is
        anything but a LeaseError from the API.
        """
        try:
            await self._acquire()
            return await self._lead(lead)
        finally:
            self._callbacks.stopped()

    async def _acquire(self) -> None:
        lock = f"{self._lock.namespace}/{self._lock.name}"
        _log.info("Attempting to acquire leader lease...", lock=lock)
        while not await self._try_acquire_or_renew():
            _log.info("Failed to acquire lease", v=4, lock=lock)
            self._report_leader()
            period = self._settings.retry_period
            await self._clock.sleep(period + self._rng.random() * JITTER_FACTOR * period)
        self._leading = True
        self._report_leader()
        self._callbacks.event(f"{self._settings.identity} became leader")
        _log.info("Successfully acquired lease", lock=lock)
        self._callbacks.started()

    async def _lead(self, lead: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        work = asyncio.create_task(lead())
        renewal = asyncio.create_task(self._renew())
        try:
            await asyncio.wait({work, renewal}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._end(work, renewal)
            if not work.cancelled() and (error := work.exception()):
                _log.error("The leader failed while it was stopping", error)
            raise
        lost = not work.done()
        await self._end(work, renewal)
        for task in (work, renewal):
            if not task.cancelled():
                task.result()
        return not lost

    async def _end(self, work: asyncio.Task[None], renewal: asyncio.Task[None]) -> None:
        """Have the work stop, renewing until it has, and only then give the lease back.

        Whoever cancels this, too, does not want to wait for the work; then the lease has to run out.
        """
        try:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        finally:
            self._leading = False
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)
        await self._release()
        self._callbacks.event(f"{self._settings.identity} stopped leading")

    async def _renew(self) -> None:
        """Renew until it fails for the length of the deadline, or somebody else has the lease."""
        period = self._settings.retry_period
        while await self._renew_in_time():
            await self._clock.sleep(period)
        _log.info("Failed to renew lease", lock=f"{self._lock.namespace}/{self._lock.name}")

    async def _renew_in_time(self) -> bool:
        """Try once every retry period, for as long as the renew deadline allows."""
        deadline = self._clock.now() + self._settings.renew_deadline
        while (began := self._clock.now()) < deadline:
            with suppress(LeaseError):
                if await within(self._clock, deadline - began, self._try_acquire_or_renew()):
                    self._report_leader()
                    return True
            self._report_leader()
            if not self._leading:
                return False
            again = min(began + self._settings.retry_period, deadline)
            await self._clock.sleep(again - self._clock.now())
        return False

    async def _release(self) -> None:
        """Let the next leader take over at once, if the lease is still this replica's; else it runs out."""
        try:
            await self._give_back()
        except LeaseError as error:
            _log.error("Failed to release lease", error, lock=self._lock.name)

    async def _give_back(self) -> None:
        held = await self._lock.get()
        self._observe(held)
        if not self._holds():
            return
        now = micros(self._clock.wall())
        released = LeaseSpec(
            holder_identity="",
            lease_duration_seconds=1,
            acquire_time=now,
            renew_time=now,
            lease_transitions=held.lease_transitions or 0,
        )
        await self._lock.update(released)
        self._observe(released)

    # One try

    async def _try_acquire_or_renew(self) -> bool:
        """Take the lease if it is free, renew it if it is ours; whether it is now.

        A leader whose lease somebody has deleted makes it anew as it was, with its past; others begin one.
        """
        leads = self._holds() and self._is_valid()
        if leads and await self._write(self._lock.update, self._claim()):
            return True
        try:
            current = await self._lock.get()
        except NotFoundError:
            return await self._write(self._lock.create, self._claim(fresh=not leads))
        except LeaseError as error:
            _log.error("Error retrieving lease lock", error, lock=self._lock.name)
            return False
        self._observe(current)
        if self._holds():
            self.slow_paths += 1
        elif (current.holder and self._is_valid()) or self._was_passed_on(current):
            self._leading = False
            _log.info("Lease is held by and has not yet expired", v=4, holder=current.holder)
            return False
        return await self._write(self._lock.update, self._claim())

    def _claim(self, *, fresh: bool = False) -> LeaseSpec:
        """The lease as it is to be: ours from now on, or still."""
        now = micros(self._clock.wall())
        transitions, acquired = self._observed.lease_transitions or 0, self._observed.acquire_time
        if fresh:
            transitions, acquired = 0, now
        elif not self._holds():
            transitions, acquired = transitions + 1, now
        return LeaseSpec(
            holder_identity=self._settings.identity,
            lease_duration_seconds=self._settings.lease_seconds,
            acquire_time=acquired,
            renew_time=now,
            lease_transitions=transitions,
        )

    async def _write(self, request: Callable[[LeaseSpec], Awaitable[None]], spec: LeaseSpec) -> bool:
        """Send our claim; the time to write counts from before it was sent."""
        sent = self._clock.now()
        try:
            await request(spec)
        except LeaseError as error:
            _log.info("Failed to update lease", v=2, lock=self._lock.name, err=str(error))
            return False
        self._observe(spec)
        self._term = spec.lease_transitions or 0
        self._write_until = sent + self._settings.write_window
        return True

    def _observe(self, spec: LeaseSpec) -> None:
        """Note when the lease changed, by our own clock."""
        if spec != self._observed:
            self._observed = spec
            self._observed_at = self._clock.now()

    def _holds(self) -> bool:
        return self._observed.holder == self._settings.identity

    def _was_passed_on(self, current: LeaseSpec) -> bool:
        """Whether somebody else has led since this leader's last renewal, if only to release the lease."""
        return self._leading and (current.lease_transitions or 0) != self._term

    def _is_valid(self) -> bool:
        """Whether the lease has changed within its own duration."""
        return self._observed_at + (self._observed.lease_duration_seconds or 0) > self._clock.now()

    def _report_leader(self) -> None:
        if self._observed.holder != self._reported:
            self._reported = self._observed.holder
            self._callbacks.new_leader(self._reported)
