"""What an operation sees of the test that it is part of."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from schedlab.api.objects import Ref
from schedlab.faults.front import Front
from schedlab.history.history import History
from schedlab.history.objects import Objects
from schedlab.operations.base import Check, OperationError, Scope
from schedlab.operations.evaluate import evaluate
from schedlab.runner.journal import Journal
from schedlab.runner.replicas import Replicas
from schedlab.runner.station import Station
from schedlab.suite.plan import Test

_NOT_STATE = ("Event.events.k8s.io", "Lease.coordination.k8s.io")


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

    async def until(self, check: Check, seconds: float) -> None:
        """Wait until `check` is Met."""
        await evaluate(self.history, check, seconds)

    async def scheduler_has_seen(self, node: str, seconds: float) -> None:
        """Wait until the scheduler under test knows all that was written about nodes and assigned pods."""
        await self._station.seen(node, seconds)

    async def explain(self, pod: Ref) -> str:
        """What the scheduler under test itself says about a pod; empty if it cannot be asked."""
        scheduler = self._station.scheduler
        if scheduler is None or not scheduler.spec.spec.explain:
            return ""
        state = self._directory / "state.json"
        await asyncio.to_thread(state.write_bytes, _list(self.history.current))
        return await scheduler.explain(f"{pod.namespace}/{pod.name}", state)

    def note(self, text: str) -> None:
        """Show a text in the report of the test."""
        self.notes.append(text)


def _list(objects: Objects) -> bytes:
    """All objects that a decision can depend on, in the order in which they were first seen."""
    items = [item for kind in objects.kinds() if kind not in _NOT_STATE for item in objects.list(kind)]
    return msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items})
