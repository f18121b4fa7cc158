"""The `local` backend: a control plane made of processes on loopback.

Any number of them run side by side: each has its own certificate authority, its own ports, its own
directories. The order of starting is the order of need (etcd and kube-apiserver together, then
kube-controller-manager and kwok), each step gated on health; the order of stopping is the reverse, and etcd
goes last.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schedlab import timing
from schedlab.cluster import components, pki, processes
from schedlab.cluster.api import ApiClient, etcd_healthy
from schedlab.cluster.backend import ClusterSpec
from schedlab.cluster.layout import ADMIN, CONTROLLER_MANAGER, KWOK, USERS, plan
from schedlab.cluster.ports import HOST, PortReservations
from schedlab.cluster.processes import MARKER, Identity, Process
from schedlab.cluster.reaper import end_marked, reap
from schedlab.cluster.state import ClusterRecord, ProcessRecord, Registry, check_name, new_record
from schedlab.cluster.tools import Tools, find
from schedlab.errors import EnvironmentStartError, UsageError

if TYPE_CHECKING:
    from schedlab.cluster.backend import Backend, ControlPlane

_START_SECONDS = 60.0
_SECONDS_PER_NODE = 0.06  # five minutes for 5,000, several times what two busy cores take
_INHERITED = ("PATH", "HOME", "TMPDIR", "LANG")

PROVIDES: Final = frozenset({"audit", "component-flags", "logs", "own-control-plane", "process-faults"})


class LocalControlPlane:
    """A control plane of local processes; `LocalBackend.up` makes it."""

    provides = PROVIDES

    def __init__(self, spec: ClusterSpec, tools: Tools, registry: Registry) -> None:
        self.name = spec.name
        self.tools = tools
        self._spec = spec.paced()
        self._registry = registry
        self._ports = PortReservations()
        self._processes: list[Process] = []
        self._down = False
        self._layout = plan(spec.runtime_dir)
        self._record = new_record(
            spec.name,
            owner=Identity.of(os.getpid()),
            background=spec.background,
            layout=self._layout,
            owns_directory=spec.runtime_dir is None,
        )
        registry.add(self._record)

    @property
    def directory(self) -> Path:
        """The run directory: logs and the audit log."""
        return self._layout.directory

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._record.server

    @property
    def audit_log(self) -> Path:
        """The API server's audit log, one JSON event per line."""
        return self._layout.audit_log

    @property
    def record(self) -> ClusterRecord:
        """What is written down about it."""
        return self._record

    @property
    def processes(self) -> Sequence[Process]:
        """Everything that was started for it, in that order."""
        return tuple(self._processes)

    def kubeconfig(self, user: str = ADMIN, instance: str = "") -> Path:
        """The kubeconfig of `user`, a self-contained file of mode 0600.

        With `instance`, one with a certificate of its own.

        Raises:
            UsageError: there is no such user.
        """
        if user not in USERS:
            known = ", ".join(sorted(USERS))
            raise UsageError(f"there is no kubeconfig for {user!r}", hint=f"users are {known}")
        path = self._layout.kubeconfig(user, instance)
        if instance and not path.exists():
            pki.write_kubeconfig(
                path,
                server=self.server,
                cluster=f"schedlab-{self.name}",
                authority=self._authority.certificate,
                user=user,
                credential=self._authority.client(user, USERS[user]),
            )
        return path

    @property
    def serving_pair(self) -> tuple[Path, Path]:
        """Certificate and key for what stands in the API server's place: its own."""
        return self._layout.certificates / "server.crt", self._layout.certificates / "server.key"

    def log(self, component: str) -> Path:
        """Where the output of a component goes."""
        return self._layout.log(component)

    def reserve_port(self) -> int:
        """A port on loopback that nobody else holds, until `release_port` or `down`."""
        return self._ports.reserve()

    def release_port(self, port: int) -> None:
        """Give a reserved port back."""
        self._ports.release(port)

    def spawn(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> Process:
        """Start a program that belongs to this control plane and ends with it at the latest.

        It gets PATH, HOME, what `env` says, and the marker by which the reaper knows it; nothing else of this
        program's environment.
        """
        inherited = {key: os.environ[key] for key in _INHERITED if key in os.environ}
        process = processes.start(
            name,
            argv,
            log=log or self.log(name),
            env={**inherited, **(env or {}), MARKER: self._record.id},
            cwd=self._layout.private,
            dies_with_parent=not self._spec.background,
        )
        self._processes.append(process)
        self._record.processes = [
            *self._record.processes,
            ProcessRecord(name, process.identity, process.argv, str(process.log)),
        ]
        self._registry.save(self._record)
        return process

    async def start(self) -> None:
        """Boot it; `LocalBackend.up` calls this once and takes it down again if it raises."""
        deadline = timing.Deadline.after(_START_SECONDS)
        self._layout.create()
        self.spawn("etcd", components.etcd(self.tools.path("etcd"), self._layout))
        self._record.server = f"https://{HOST}:{self._named_port('kube-apiserver')}"
        self._record.versions = self.tools.versions()
        self._authority = self._layout.prepare(name=self.name, server=self.server)
        await self._healthy("etcd", lambda: etcd_healthy(self._layout.etcd_socket), deadline)
        async with ApiClient.of(self._layout, self.server) as client:
            await self._start_api_server(client, deadline)
            await self._start_controllers(client, deadline)
            await self._create_nodes(client, deadline)
        self._registry.save(self._record)

    async def _start_api_server(self, client: ApiClient, deadline: timing.Deadline) -> None:
        port = self._record.ports["kube-apiserver"]
        program = self.tools.path("kube-apiserver")
        self.spawn(
            "kube-apiserver",
            components.kube_apiserver(program, self._layout, port, self._spec.apiserver_flags),
        )
        await self._healthy("kube-apiserver", lambda: client.healthy("/readyz"), deadline)
        await self._healthy("kube-apiserver", lambda: client.healthy("/api/v1/namespaces/default"), deadline)

    async def _start_controllers(self, client: ApiClient, deadline: timing.Deadline) -> None:
        layout, tools = self._layout, self.tools
        manager_port, kwok_port = self._named_port("kube-controller-manager"), self._named_port("kwok")
        manager = components.kube_controller_manager(
            tools.path("kube-controller-manager"),
            layout,
            manager_port,
            layout.kubeconfig(CONTROLLER_MANAGER),
            self._spec.controller_flags,
        )
        self.spawn("kube-controller-manager", manager)
        kwok = components.kwok(
            tools.path("kwok"), layout, kwok_port, layout.kubeconfig(KWOK), self._spec.kwok_flags
        )
        self.spawn("kwok", kwok)
        manager_health = f"https://{HOST}:{manager_port}/healthz"
        kwok_health = f"http://{HOST}:{kwok_port}/healthz"
        await self._healthy("kube-controller-manager", lambda: client.healthy(manager_health), deadline)
        await self._healthy("kwok", lambda: client.healthy(kwok_health), deadline)

    async def _create_nodes(self, client: ApiClient, deadline: timing.Deadline) -> None:
        wanted, progress = self._spec.machines(), self._spec.progress
        if not wanted:
            return
        names = {node["metadata"]["name"] for node in wanted}
        deadline = timing.Deadline.after(deadline.remaining + len(wanted) * _SECONDS_PER_NODE)
        with progress.task("creating nodes", len(wanted), "nodes") as task:
            await client.create_nodes(wanted, task.update)
        with progress.task("waiting until they are Ready", len(wanted), "nodes") as task:
            late = await client.wait_for_nodes(names, deadline, task.update)
        if late:
            raise EnvironmentStartError(
                f"{len(late)} of {len(wanted)} nodes did not become Ready: {', '.join(sorted(late)[:5])}",
                hint=f"see {self.log('kwok')} and {self.log('kube-controller-manager')}",
            )

    async def _healthy(
        self, component: str, probe: Callable[[], Awaitable[bool]], deadline: timing.Deadline
    ) -> None:
        """Wait until a component answers; one that has ended is reported at once, with its last words."""

        async def settled() -> str | None:
            for process in self._processes:
                if not process.alive:
                    return f"{process.name} ended with exit code {process.returncode}:\n{last_words(process)}"
            return "" if await probe() else None

        problem = await timing.poll(settled, deadline)
        if problem is None:
            words = processes.tail(self.log(component), 15)
            problem = f"{component} was not healthy within {_START_SECONDS:.0f} s:\n{words}"
        if problem:
            raise EnvironmentStartError(problem)

    def _named_port(self, component: str) -> int:
        port = self._ports.reserve()
        self._record.ports[component] = port
        return port

    async def down(self) -> None:
        """End everything in the right order, remove keys, data and (if its own) the run directory."""
        await asyncio.to_thread(self.down_now)

    def down_now(self) -> None:
        """`down` for code without an event loop; a second call does nothing."""
        if self._down:
            return
        self._down = True
        atexit.unregister(self.down_now)
        for process in components.stop_order(self._processes):
            process.stop_now()
        end_marked(self._record.id)  # a program under test may have started others
        self._ports.close()
        self._layout.remove_private()
        self._registry.forget(self._record)

    def keep_logs(self) -> Path:
        """Where the logs of a failed start stay; those of the run before are replaced."""
        if not self._record.owns_directory:
            return self._layout.directory / "logs"
        kept = self._registry.failures / self.name
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self._layout.directory / "logs", kept)
        return kept

    def hand_over(self) -> None:
        """Leave it running when this program ends; `schedlab down` finds it by its record."""
        atexit.unregister(self.down_now)
        for process in self._processes:
            process.detach()
        self._ports.close()
        self._record.owner = None
        self._registry.save(self._record)


def last_words(process: Process) -> str:
    """What a program said before it ended; about a wrong flag only the complaint, without all the usage."""
    words = process.tail()
    last = words.rpartition("\n")[2]
    return last if last.startswith("Error: ") else words


class LocalBackend:
    """Makes control planes out of processes on this machine."""

    provides = PROVIDES

    def __init__(self, registry: Registry | None = None) -> None:
        self._registry = registry

    async def up(self, spec: ClusterSpec) -> LocalControlPlane:
        """Boot a control plane; first end what a killed schedlab left behind.

        Raises:
            EnvironmentStartError: a program is missing or a component does not come up; nothing stays
            running. UsageError: the name is malformed or taken, or a node profile is.
        """
        check_name(spec.name)
        spec.machines()
        processes.require_proc()
        registry = self._registry or Registry()
        await asyncio.to_thread(reap, registry)
        tools = spec.tools or find()
        plane = LocalControlPlane(spec, tools, registry)
        atexit.register(plane.down_now)
        try:
            await plane.start()
        except EnvironmentStartError as error:
            hint = f"the logs of all components are in {plane.keep_logs()}" if plane.processes else error.hint
            plane.down_now()
            raise EnvironmentStartError(error.message, hint=hint) from error
        except BaseException:
            plane.down_now()
            raise
        if spec.background:
            plane.hand_over()
        return plane


if TYPE_CHECKING:
    _backend: type[Backend] = LocalBackend
    _plane: type[ControlPlane] = LocalControlPlane
