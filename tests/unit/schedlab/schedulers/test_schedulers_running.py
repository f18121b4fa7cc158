"""A scheduler is ready when it says so; one that ends or never gets ready is told with its log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from schedlab.cluster import pki, processes
from schedlab.cluster.ports import PortReservations
from schedlab.cluster.processes import Process
from schedlab.errors import EnvironmentStartError
from schedlab.schedulers.declaration import Readiness, SchedulerSpec, Spec
from schedlab.schedulers.running import RunningScheduler, start

SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 404)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class Plane:
    """As much of a control plane as a scheduler is started on."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.server = "https://127.0.0.1:1"
        self.tools: list[object] = []
        self.ports = PortReservations()
        self.started: list[Process] = []

    def kubeconfig(self, user: str, instance: str = "") -> Path:
        authority = pki.CertificateAuthority("test")
        return pki.write_kubeconfig(
            self.directory / f"{user}-{instance}.kubeconfig",
            server=self.server,
            cluster="c",
            authority=authority.certificate,
            user=user,
            credential=authority.client(user),
        )

    def log(self, component: str) -> Path:
        return self.directory / f"{component}.log"

    def reserve_port(self) -> int:
        return self.ports.reserve()

    def release_port(self, port: int) -> None:
        self.ports.release(port)

    def spawn(self, name: str, argv: list[str], env: dict[str, str], log: Path) -> Process:
        process = processes.start(name, argv, log=log, env=env)
        self.started.append(process)
        return process


def written_config(running: RunningScheduler) -> dict[str, Any]:
    return msgspec.json.decode(Path(running.values["config"]).read_bytes(), type=dict)


def scheduler(*arguments: str, timeout: str = "10s") -> SchedulerSpec:
    readiness = Readiness(scheme="http", timeout=timeout)
    spec = Spec(command=["{python}", *arguments], readiness=readiness, environment={"PYTHONUNBUFFERED": "1"})
    return SchedulerSpec(name="mine", spec=spec)


async def test_it_is_started_as_the_scheduler_user_and_is_ready(tmp_path: Path) -> None:
    """With its configuration on disk and its port given back at the end."""
    plane = Plane(tmp_path)
    running = await start(
        scheduler("-c", SERVER, "{port}"),
        plane,  # type: ignore[arg-type]
        config_patch={"parallelism": 1},
        disabled=("X",),
    )
    try:
        assert running.alive
        written = written_config(running)
        assert written == running.config
        assert written["clientConnection"]["kubeconfig"].endswith(
            f"system:kube-scheduler-{running.process.name}.kubeconfig"
        )
        assert running.credential.startswith("X509SHA256=")
        assert written["parallelism"] == 1
        assert written["profiles"][0]["plugins"]["multiPoint"]["disabled"] == [{"name": "X"}]
    finally:
        await running.stop()
    assert not running.alive
    assert plane.ports.held == ()


async def test_it_can_be_asked_about_a_pod(tmp_path: Path) -> None:
    """If its declaration says how; the command gets the pod and a file with all objects."""
    answer = "import sys; print('asked about', *sys.argv[1:])"
    spec = scheduler("-c", SERVER, "{port}")
    running = await start(spec, Plane(tmp_path))  # type: ignore[arg-type]
    try:
        assert await running.explain("ns/w", tmp_path / "state.json") == ""
        spec.spec.explain = ["{python}", "-c", answer, "{pod}", "{state}"]
        assert await running.explain("ns/w", Path("/s.json")) == "asked about ns/w /s.json\n"
    finally:
        await running.stop()


async def test_one_that_ends_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    """At once, not after the timeout."""
    plane = Plane(tmp_path)
    with pytest.raises(
        EnvironmentStartError, match="ended with exit code 3; the end of its log:\nno such plugin"
    ):
        await start(scheduler("-c", "print('no such plugin'); raise SystemExit(3)"), plane)  # type: ignore[arg-type]
    assert plane.ports.held == ()


async def test_one_that_never_gets_ready_is_stopped(tmp_path: Path) -> None:
    """Nothing is left running."""
    plane = Plane(tmp_path)
    with pytest.raises(EnvironmentStartError, match="was not ready in 200ms"):
        await start(scheduler("-c", "input()" and "import signal; signal.pause()", timeout="200ms"), plane)  # type: ignore[arg-type]
    assert [process.alive for process in plane.started] == [False]


async def test_the_end_of_one_that_was_ready_is_noticed(tmp_path: Path) -> None:
    """With its exit code."""
    running = await start(scheduler("-c", SERVER, "{port}"), Plane(tmp_path))  # type: ignore[arg-type]
    running.process.signal(9)
    assert "mine ended with exit code -9" in await running.ended()
    await running.stop()
