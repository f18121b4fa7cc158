"""One control plane with all that a test needs: client, recorder, barrier, the scheduler under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedlab.api.client import Client
from schedlab.cluster.backend import Backend, ClusterSpec, ControlPlane
from schedlab.history.recorder import Recorder
from schedlab.runner.barrier import Barrier
from schedlab.schedulers.configuration import scheduler_name
from schedlab.schedulers.declaration import SchedulerSpec
from schedlab.schedulers.running import RunningScheduler, start


@dataclass(frozen=True)
class Setup:
    """How the scheduler under test runs; it is restarted when a test needs another setup."""

    config: Mapping[str, Any] = field(default_factory=dict)
    flags: Sequence[str] = ()
    disabled: Sequence[str] = ()


class Station:
    """A control plane on which one test runs at a time."""

    def __init__(self, spec: SchedulerSpec, control_plane: ControlPlane, client: Client) -> None:
        self.spec = spec
        self.control_plane = control_plane
        self.client = client
        self.recorder = Recorder(client)
        self.barrier = Barrier(client, self.recorder)
        self.scheduler: RunningScheduler | None = None
        self.tests = 0
        self.spoilt = ""
        """Why no further test may run here, if so."""
        self._setup: Setup | None = None

    @classmethod
    async def open(cls, backend: Backend, spec: SchedulerSpec, name: str, directory: Path) -> Station:
        """Boot a control plane and watch it.

        Raises:
            EnvironmentStartError: it does not come up.
        """
        control_plane = await backend.up(ClusterSpec(name=name, runtime_dir=directory))
        try:
            client = await Client.connect(control_plane.kubeconfig())
            station = cls(spec, control_plane, client)
            await station.recorder.start()
            await station.barrier.prepare()
        except BaseException:
            await control_plane.down()
            raise
        return station

    async def prepare(self, setup: Setup) -> RunningScheduler:
        """The scheduler, running as asked; restarted if it runs otherwise or has ended.

        Raises:
            EnvironmentStartError: it does not start.
        """
        if self.scheduler is not None and self.scheduler.alive and self._setup == setup:
            return self.scheduler
        await self._stop_scheduler()
        self.scheduler = await start(
            self.spec,
            self.control_plane,
            config_patch=setup.config,
            extra_flags=setup.flags,
            disabled=setup.disabled,
        )
        self._setup = setup
        return self.scheduler

    async def seen(self, node: str, seconds: float) -> None:
        """Wait until the scheduler has seen all that was written about nodes and assigned pods."""
        if self.scheduler is None or self._setup is None:
            raise RuntimeError("no scheduler runs here")
        name = scheduler_name(self.scheduler.config)
        await self.barrier.pass_(node, name, seconds, by_resource="NodeAffinity" in self._setup.disabled)

    async def _stop_scheduler(self) -> None:
        if self.scheduler is not None:
            await self.scheduler.stop()
            self.scheduler = None

    async def close(self) -> None:
        """Stop the scheduler and the watches, and take the control plane down."""
        await self._stop_scheduler()
        await self.recorder.stop()
        await self.client.close()
        await self.control_plane.down()
