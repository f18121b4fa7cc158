"""One control plane with all that a test needs: client, recorder, barrier, the scheduler under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedlab.api.client import Client
from schedlab.cluster.backend import Backend, ClusterSpec, ControlPlane
from schedlab.faults.front import Front
from schedlab.history.recorder import Recorder
from schedlab.runner.barrier import Barrier
from schedlab.runner.extenders import Extenders
from schedlab.schedulers.configuration import merge, scheduler_name
from schedlab.schedulers.declaration import SchedulerSpec
from schedlab.schedulers.running import RunningScheduler, start
from schedlab.suite.extenders import ExtenderNeeds
from schedlab.suite.types import ControlPlaneNeeds, Flags


@dataclass(frozen=True)
class Setup:
    """How the scheduler under test runs; it is restarted when a test needs another setup."""

    config: Mapping[str, Any] = field(default_factory=dict)
    flags: Sequence[str] = ()
    disabled: Sequence[str] = ()
    extenders: Sequence[ExtenderNeeds] = ()
    proxy: bool = False


class Station:
    """A control plane on which one test runs at a time."""

    def __init__(
        self, spec: SchedulerSpec, control_plane: ControlPlane, client: Client, needs: ControlPlaneNeeds
    ) -> None:
        self.spec = spec
        self.needs = needs
        """How the control plane was asked to run."""
        self.control_plane = control_plane
        self.client = client
        self.recorder = Recorder(client)
        self.barrier = Barrier(client, self.recorder)
        self.extenders = Extenders(client)
        self.scheduler: RunningScheduler | None = None
        self.tests = 0
        self.audited = 0
        """How far the audit log was searched for what was forbidden."""
        self.spoilt = ""
        """Why no further test may run here, if so."""
        self.front: Front | None = None
        """What stands before the API server, if the test wants faults."""
        self._setup: Setup | None = None

    @classmethod
    async def open(
        cls,
        backend: Backend,
        spec: SchedulerSpec,
        name: str,
        directory: Path,
        needs: ControlPlaneNeeds | None = None,
    ) -> Station:
        """Boot a control plane that runs as is needed, and watch it.

        Raises:
            EnvironmentStartError: it does not come up.
        """
        needs = needs or ControlPlaneNeeds()
        control_plane = await backend.up(
            ClusterSpec(
                name=name,
                runtime_dir=directory,
                apiserver_flags=written(needs.kube_apiserver),
                controller_flags=written(needs.kube_controller_manager),
                kwok_flags=written(needs.kwok),
            )
        )
        try:
            client = await Client.connect(control_plane.kubeconfig())
            station = cls(spec, control_plane, client, needs)
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
        await self.stop_scheduler()
        self.front = Front(self.control_plane) if setup.proxy else None
        self.scheduler = await self.start_scheduler(setup, self.spec)
        self._setup = setup
        return self.scheduler

    async def start_scheduler(self, setup: Setup, spec: SchedulerSpec) -> RunningScheduler:
        """One more scheduler process; whoever asks for it stops it.

        Raises:
            EnvironmentStartError: it does not start.
        """
        config = setup.config
        if entries := await self.extenders.serve(setup.extenders):
            config = merge(config, {"extenders": entries})
        return await start(
            spec,
            self.control_plane,
            config_patch=config,
            extra_flags=setup.flags,
            disabled=setup.disabled,
            front=self.front,
        )

    async def seen(self, node: str, seconds: float) -> None:
        """Wait until the scheduler has seen all that was written about nodes and assigned pods."""
        if self.scheduler is None or self._setup is None:
            raise RuntimeError("no scheduler runs here")
        name = scheduler_name(self.scheduler.config)
        await self.barrier.pass_(node, name, seconds, by_resource="NodeAffinity" in self._setup.disabled)

    async def stop_scheduler(self) -> None:
        """End the scheduler and what stands before the API server; the next test gets a new one."""
        if self.scheduler is not None:
            await self.scheduler.stop()
            self.scheduler = None
        if self.front is not None:
            await self.front.close()
            self.front = None

    async def close(self) -> None:
        """Stop the scheduler and the watches, and take the control plane down."""
        await self.stop_scheduler()
        await self.extenders.close()
        await self.recorder.stop()
        await self.client.close()
        await self.control_plane.down()


def written(flags: Flags) -> dict[str, str]:
    """Flags as a command line has them."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in flags.items()
    }
