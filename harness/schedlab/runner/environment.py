"""What an operation sees of the test that it is part of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schedlab.api.objects import Ref
from schedlab.faults.front import Front
from schedlab.history.history import History
from schedlab.kubelet.kubelets import Kubelets
from schedlab.kubelet.usage import Declared
from schedlab.operations.base import Check, OperationError, Scope
from schedlab.operations.evaluate import evaluate
from schedlab.runner.account import account, own_words
from schedlab.runner.journal import Journal
from schedlab.runner.kubectl import Kubectl
from schedlab.runner.programs import Programs
from schedlab.runner.replicas import Replicas
from schedlab.runner.station import Station
from schedlab.suite.plan import Test


class Environment:
    """The `Env` of one test: its names, its record, its writer."""

    def __init__(
        self,
        station: Station,
        test: Test,
        history: History,
        namespace: str,
        directory: Path,
        *,
        replicas: Replicas,
        allow_scripts: bool = False,
        kubelets: Kubelets | None = None,
    ) -> None:
        self.bindings: dict[str, Any] = {
            "namespace": namespace,
            "test": test.name,
            "scheduler": station.spec.name,
        }
        self.notes: list[str] = []
        self.history = history
        self.replicas = replicas
        self.writer = Journal(station.client, station.recorder, namespace)
        self.kubectl = Kubectl(station.control_plane, namespace, directory / "logs")
        self._kubelets = kubelets
        self.programs = Programs(station.control_plane, namespace, test.path.parent, allowed=allow_scripts)
        self._station = station
        self._test = test
        self._namespace = namespace
        self._directory = directory

    @property
    def scope(self) -> Scope:
        """The test's namespace, bindings and files."""
        return Scope(namespace=self._namespace, bindings=dict(self.bindings), files=self._test.files)

    @property
    def faults(self) -> Front:
        """What stands between the scheduler under test and the API server.

        Raises:
            OperationError: nothing does.
        """
        if self._station.front is None:
            raise OperationError(
                "the scheduler reaches the API server directly", hint="set spec.scheduler.proxy to true"
            )
        return self._station.front

    @property
    def usage(self) -> Declared:
        """What pods and machines use, as declared.

        Raises:
            OperationError: no kubelet looks at it.
        """
        if self._kubelets is None:
            raise OperationError("nobody looks at usage here", hint="give the test a spec.kubelet")
        return self._kubelets.declared

    def scheduler_log(self) -> list[str]:
        """What the scheduler under test has printed, in lines."""
        scheduler = self._station.scheduler
        return scheduler.log.read_text(errors="replace").splitlines() if scheduler is not None else []

    async def until(self, check: Check, seconds: float) -> None:
        """Wait until `check` is Met."""
        await evaluate(self.history, check, seconds)

    async def scheduler_has_seen(self, node: str, seconds: float) -> None:
        """Wait until the scheduler under test knows all that was written about nodes and assigned pods."""
        await self._station.seen(node, seconds)

    async def explain(self, pod: Ref) -> str:
        """What the scheduler under test itself says about a pod; empty if it cannot be asked."""
        return await own_words(self._station.scheduler, pod, self.history, self._directory)

    async def account(self, refs: Sequence[Ref]) -> None:
        """Note what is known about the pods among `refs`."""
        self.notes += await account(self._station.scheduler, refs, self.history, self._directory)

    def note(self, text: str) -> None:
        """Show a text in the report of the test."""
        self.notes.append(text)
