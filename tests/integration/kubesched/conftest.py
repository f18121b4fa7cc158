"""A real control plane, and schedulers on it: kubesched and, to compare with, kube-scheduler."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import ssl
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import kubernetes
import pytest
import yaml

from schedlab import timing
from schedlab.cluster.backend import ClusterSpec
from schedlab.cluster.local import LocalBackend, LocalControlPlane
from schedlab.cluster.nodes import parse_groups
from schedlab.cluster.processes import Process

USER = "system:kube-scheduler"


def eventually(question, seconds: float = 20.0):
    """Ask until the answer is true, and return it."""
    deadline = timing.Deadline.after(seconds)
    while not (answer := question()):
        assert not deadline.expired, f"still {answer!r} after {seconds} s"
        timing.pause(0.05)
    return answer


@dataclass
class Scheduler:
    """A running scheduler process with its secure port."""

    process: Process
    port: int

    def ready(self) -> bool:
        return self.get("/readyz")[0] == 200

    def get(self, path: str, context: ssl.SSLContext | None = None) -> tuple[int, str]:
        """Status and body of a path on the secure port; (0, reason) while nobody answers."""
        context = context or ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            url = f"https://127.0.0.1:{self.port}{path}"
            with urllib.request.urlopen(url, context=context, timeout=5) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def stop(self) -> int:
        """End it with SIGTERM; the exit code."""
        return self.process.stop_now(grace=15)

    @property
    def log(self) -> str:
        return self.process.log.read_text()


@dataclass
class Lab:
    """A control plane, clients for it, and the schedulers started on it."""

    plane: LocalControlPlane
    schedulers: list[Scheduler] = field(default_factory=list)
    _clients: list[kubernetes.client.ApiClient] = field(default_factory=list)

    def core(self, user: str = "admin") -> kubernetes.client.CoreV1Api:
        self._clients.append(kubernetes.config.new_client_from_config(str(self.plane.kubeconfig(user))))
        return kubernetes.client.CoreV1Api(self._clients[-1])

    def start(self, which: str = "kubesched", *flags: str, elect: bool = False) -> Scheduler:
        """Start a scheduler as its usual user and wait until it is ready."""
        port, config = self.plane.reserve_port(), str(self.plane.kubeconfig(USER))
        self.plane.release_port(port)
        command = {
            "kubesched": [sys.executable, "-m", "kubesched"],
            "kube-scheduler": [str(self.plane.tools.path("kube-scheduler"))],
        }[which]
        argv = [
            *command,
            f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--leader-elect={str(elect).lower()}",
            "-v=2",
            *flags,
        ]
        process = self.plane.spawn(f"{which}-{port}", argv)
        scheduler = Scheduler(process, port)
        self.schedulers.append(scheduler)

        def answered() -> bool:
            assert process.alive, process.tail()
            return scheduler.ready()

        eventually(answered, 30)
        return scheduler

    def component(self, name: str) -> Process:
        """The latest process of a component."""
        return [process for process in self.plane.processes if process.name == name][-1]

    def restart(self, name: str) -> None:
        """Kill a component and start it again with the same command."""
        old = self.component(name)
        old.signal(signal.SIGKILL)
        old.stop_now()
        self.plane.spawn(name, old.argv)

    def refusals(self) -> list[tuple[str, str]]:
        """(verb, URI) of every request of the scheduler's user that was answered 403."""
        found = []
        for line in self.plane.audit_log.read_text().splitlines():
            event = json.loads(line)
            code = event.get("responseStatus", {}).get("code")
            if event["user"]["username"] == USER and code == 403:
                found.append((event["verb"], event["requestURI"]))
        return found

    def credentials(self, tmp_path: Path, user: str = "admin") -> ssl.SSLContext:
        """A TLS context with a user's client certificate."""
        entry = yaml.safe_load(self.plane.kubeconfig(user).read_text())["users"][0]["user"]
        context = ssl.create_default_context()
        pem = tmp_path / f"{user.replace(':', '-')}.pem"
        keys = ("client-certificate-data", "client-key-data")
        pem.write_bytes(b"".join(base64.b64decode(entry[key]) for key in keys))
        context.load_cert_chain(pem)
        return context

    def end(self) -> None:
        for scheduler in self.schedulers:
            if scheduler.process.alive:
                scheduler.process.stop_now()
        for client in self._clients:
            client.close()
        self.plane.down_now()


def boot(name: str, **spec) -> Lab:
    """A control plane of its own."""
    return Lab(asyncio.run(LocalBackend().up(ClusterSpec(name=name, **spec))))


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """Keep records apart from those of the user and of other runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCHEDLAB_STATE_DIR", str(tmp_path_factory.getbasetemp() / "state"))
        yield


@pytest.fixture(scope="module")
def lab(own_state):
    """One control plane with three nodes for a module."""
    made = boot("kubesched", nodes=parse_groups("cpu-32=3"), zones=3)
    yield made
    made.end()


@pytest.fixture
def labs(own_state):
    """Boots control planes for one test."""
    made: list[Lab] = []

    def up(**spec) -> Lab:
        made.append(boot(f"kubesched-{len(made)}", **spec))
        return made[-1]

    yield up
    for lab in made:
        lab.end()


@pytest.fixture
def namespace(lab):
    """A namespace of the test's own, emptied at once at the end."""
    core = lab.core()
    name = core.create_namespace({"metadata": {"generateName": "t-"}}).metadata.name
    yield name
    core.delete_collection_namespaced_pod(name, grace_period_seconds=0)
    core.delete_namespace(name)
    eventually(lambda: not core.list_namespaced_pod(name).items)
