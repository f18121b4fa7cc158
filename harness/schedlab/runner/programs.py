"""Programs that a test runs: only if that is allowed, in a clean environment, never longer than they may.

A test file is data until it may run programs; then it is code. So it has to be allowed for each run, and what
runs sees nothing of the environment of who called schedlab, his credentials least of all.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from schedlab import timing
from schedlab.cluster.backend import ControlPlane
from schedlab.operations.base import Finished, OperationError

_PATH = "/usr/local/bin:/usr/bin:/bin"
_MOST_BYTES = 1 << 20


class Programs:
    """Runs programs in the folder of one test."""

    def __init__(self, control_plane: ControlPlane, namespace: str, folder: Path, *, allowed: bool) -> None:
        self._control_plane = control_plane
        self._namespace = namespace
        self._folder = folder
        self._allowed = allowed

    async def run(self, argv: Sequence[str], env: Mapping[str, str], seconds: float) -> Finished:
        """What came of a program; all processes it has started are ended with it.

        Raises:
            OperationError: it is not allowed, cannot be started, or took too long.
        """
        if not self._allowed:
            raise OperationError(
                "the test wants to run a program, which is not allowed", hint="allow it with --allow-scripts"
            )
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=self._folder,
                env={**self._environment(), **env},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise OperationError(f"{argv[0]} cannot be started: {error.strerror}") from error
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), seconds)
        except TimeoutError as error:
            lasted = timing.format_duration(seconds)
            raise OperationError(
                f"{argv[0]} had not ended after {lasted}", hint="give it more time with `timeout`"
            ) from error
        finally:
            _end(process.pid)
            await process.wait()
        return Finished(_text(stdout), _text(stderr), process.returncode or 0)

    def _environment(self) -> dict[str, str]:
        kubectl = self._control_plane.tools.path("kubectl")
        return {
            "PATH": f"{kubectl.parent}:{_PATH}",
            "HOME": str(self._control_plane.kubeconfig().parent),
            "KUBECONFIG": str(self._control_plane.kubeconfig()),
            "NAMESPACE": self._namespace,
            "LANG": "C.UTF-8",
        }


def _end(group: int) -> None:
    """Kill whatever is left of a process group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _text(printed: bytes) -> str:
    return printed[-_MOST_BYTES:].decode(errors="replace")
