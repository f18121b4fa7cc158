"""A scheduler under test as a process: started, gated on readiness, watched, stopped.

It runs as the user `system:kube-scheduler`, since API priority and RBAC are part of what is tested. Its log
is kept.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from schedlab import timing
from schedlab.cluster.backend import ControlPlane
from schedlab.cluster.layout import SCHEDULER
from schedlab.cluster.pki import credential_id
from schedlab.cluster.ports import HOST
from schedlab.cluster.processes import Process
from schedlab.cluster.tools import Tool, Tools, located
from schedlab.errors import EnvironmentStartError
from schedlab.faults.front import Front
from schedlab.schedulers.configuration import configuration
from schedlab.schedulers.declaration import SchedulerSpec


@dataclass(slots=True)
class RunningScheduler:
    """A scheduler that is ready."""

    spec: SchedulerSpec
    process: Process
    config: dict[str, Any]
    port: int
    log: Path
    control_plane: ControlPlane
    values: Mapping[str, str]
    credential: str = ""
    """By which the audit log knows what it writes."""

    @property
    def name(self) -> str:
        """The name of its declaration."""
        return self.spec.name

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self.process.alive

    async def ended(self) -> str:
        """Return once the process has ended, with what there is to say about that."""
        code = await self.process.wait()
        return f"{self.name} ended with exit code {code}; the end of its log:\n{self.process.tail()}"

    async def stop(self) -> None:
        """End it and give its port back."""
        await self.process.stop()
        self.control_plane.release_port(self.port)

    async def explain(self, pod: str, state: Path, seconds: float = 20.0) -> str:
        """What its `explain` command says about a pod, given all objects in `state`; empty without one."""
        if not self.spec.spec.explain:
            return ""
        argv = command(
            self.spec,
            self.spec.spec.explain,
            {**self.values, "pod": pod, "state": str(state)},
            self.control_plane,
        )
        return await asyncio.to_thread(_output, argv, seconds)


async def start(
    spec: SchedulerSpec,
    control_plane: ControlPlane,
    *,
    config_patch: Mapping[str, Any] | None = None,
    extra_flags: Sequence[str] = (),
    disabled: Sequence[str] = (),
    log: Path | None = None,
    front: Front | None = None,
) -> RunningScheduler:
    """Start a scheduler on a control plane, behind `front` if there is one; returns once it is ready.

    Raises:
        EnvironmentStartError: it ended, or was not ready in time; with the end of its log. Nothing is left
        running.
    """
    port = control_plane.reserve_port()
    name = f"{spec.name}-{port}"
    kubeconfig = control_plane.kubeconfig(SCHEDULER, instance=name)
    credential = credential_id(kubeconfig)
    if front is not None:
        kubeconfig = await front.open(name, kubeconfig)
    config = configuration(spec.spec.config, config_patch or {}, kubeconfig, disabled)
    file = control_plane.directory / f"{name}.config.json"
    file.write_bytes(msgspec.json.format(msgspec.json.encode(config)))
    values = {
        "config": str(file),
        "kubeconfig": str(kubeconfig),
        "port": str(port),
        "python": sys.executable,
        "server": control_plane.server,
    }
    argv = [*command(spec, spec.spec.command, values, control_plane), *extra_flags]
    log = log or control_plane.log(name)
    process = control_plane.spawn(name, argv, dict(spec.spec.environment), log)
    running = RunningScheduler(spec, process, config, port, log, control_plane, values, credential)
    try:
        await _ready(running)
    except BaseException:
        await running.stop()
        raise
    return running


def command(
    spec: SchedulerSpec, arguments: Sequence[str], values: Mapping[str, str], control_plane: ControlPlane
) -> list[str]:
    """An argument list that can be executed, with the programs of a control plane.

    Raises:
        EnvironmentStartError: a program that it needs is not installed.
    """
    return executable(spec, arguments, values, control_plane.tools)


def executable(
    spec: SchedulerSpec, arguments: Sequence[str], values: Mapping[str, str], tools: Iterable[Tool] = ()
) -> list[str]:
    """An argument list that can be executed, with these programs and the scheduler's own.

    Raises:
        EnvironmentStartError: a program that it needs is not installed.
    """
    own = installed(spec)
    paths = {tool.name: tool.path for tool in (*tools, *own)}
    if spec.spec.build is not None:
        values = {**values, "program": str(own.path(spec.spec.build.program().key))}
    program, *rest = spec.fill(arguments, values, paths)
    if "/" in program:
        return [str(spec.directory / program), *rest]
    found = shutil.which(program)
    if found is None:
        raise EnvironmentStartError(
            f"scheduler {spec.name}: there is no program {program!r}", hint="is it in PATH?"
        )
    return [found, *rest]


def installed(spec: SchedulerSpec) -> Tools:
    """What a scheduler needs beside the programs of a control plane.

    Raises:
        EnvironmentStartError: something is not installed.
    """
    wanted = spec.programs()
    tools = located(wanted) if wanted else Tools(())
    missing = [program.key for program in wanted if program.key not in tools]
    if missing:
        raise EnvironmentStartError(
            f"scheduler {spec.name}: not installed: {', '.join(missing)}",
            hint="run `schedlab tools install` with the scheduler's name or file",
        )
    return tools


async def _ready(running: RunningScheduler) -> None:
    readiness = running.spec.spec.readiness
    url = f"{readiness.scheme}://{HOST}:{running.port}{readiness.path}"
    seconds = timing.parse_duration(readiness.timeout)

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:

        async def answer() -> bool | None:
            if not running.alive:
                return False
            return True if await _answers(session, url) else None

        ready = await timing.poll(answer, timing.Deadline.after(seconds))
    if not ready:
        state = (
            f"ended with exit code {running.process.returncode}"
            if ready is False
            else f"was not ready in {readiness.timeout}"
        )
        raise EnvironmentStartError(
            f"scheduler {running.name} {state}; the end of its log:\n{running.process.tail()}",
            hint=f"its command: {' '.join(running.process.argv)}",
        )


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    """True if the scheduler answers 200; its certificate is its own, made at its start."""
    try:
        async with session.get(url, ssl=False) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


def version(spec: SchedulerSpec, control_plane: ControlPlane) -> str:
    """What its version command prints; empty if it has none."""
    if not spec.spec.version:
        return ""
    argv = command(spec, spec.spec.version, {"python": sys.executable}, control_plane)
    return _output(argv, 20.0).strip().split("\n")[0]


def help_of(spec: SchedulerSpec, control_plane: ControlPlane) -> str:
    """What its program says of its flags and gates."""
    argv = command(spec, [spec.spec.command[0], "--help"], {"python": sys.executable}, control_plane)
    return _output(argv, 20.0)


def _output(argv: Sequence[str], seconds: float) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{argv[0]}: {error}"
    return done.stdout or done.stderr
