"""The pinned kubectl, run against the control plane of a test as a user of the cluster would run it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from schedlab.cluster.backend import ControlPlane
from schedlab.cluster.processes import Process
from schedlab.operations.base import OperationError


class Kubectl:
    """All runs of kubectl in one test; the output of each is kept below `logs`."""

    def __init__(self, control_plane: ControlPlane, namespace: str, logs: Path) -> None:
        self._control_plane = control_plane
        self._namespace = namespace
        self._logs = logs
        self._running: dict[str, Process] = {}

    def start(self, args: Sequence[str]) -> str:
        """Start one as the administrator, in the test's namespace; returns its name."""
        kubeconfig = self._control_plane.kubeconfig()
        name = f"kubectl-{len(self._running) + 1}"
        argv = [
            str(self._control_plane.tools.path("kubectl")),
            f"--kubeconfig={kubeconfig}",
            f"--cache-dir={kubeconfig.parent / 'kubectl-cache'}",
            f"--namespace={self._namespace}",
            *args,
        ]
        self._running[name] = self._control_plane.spawn(name, argv, log=self._logs / f"{name}.log")
        return name

    async def finished(self, name: str, seconds: float) -> tuple[int | None, str]:
        """The exit code, None if it still runs after so many seconds, and what it has printed.

        Raises:
            OperationError: no run has that name.
        """
        process = self._running.get(name)
        if process is None:
            known = ", ".join(self._running) or "none"
            raise OperationError(f"there is no kubectl {name!r}", hint=f"started were {known}")
        code = await process.wait(seconds)
        return code, process.log.read_text(errors="replace")

    async def close(self) -> None:
        """End those that still run."""
        for process in self._running.values():
            await process.stop()
