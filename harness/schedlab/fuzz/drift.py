"""Asks a running kubesched to compare its state with the objects it was made of.

On SIGUSR2 it rebuilds every count from the objects, writes one line per difference and then one line with
their number. kube-scheduler compares its cache on the same signal, but says nothing when it is done.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

from schedlab import timing
from schedlab.decisions.klog import parse
from schedlab.errors import SchedlabError

#: Schedulers that answer the signal with a line at the end.
AUDITED = frozenset({"kubesched"})
_DRIFT = "The state has drifted from its objects"
_DONE = "Compared the state with its objects"
_PATIENCE = 20.0


class Auditor:
    """One scheduler's log, and a way to send it a signal."""

    def __init__(self, log: Path, send: Callable[[int], object]) -> None:
        self._file = log.open(encoding="utf-8", errors="replace")
        self._send = send
        self._pending = ""

    def close(self) -> None:
        """Let go of the log."""
        self._file.close()

    async def drifts(self) -> list[str]:
        """What the scheduler's state has wrong right now, one text each.

        Raises:
            SchedlabError: it did not answer the signal.
        """
        self._file.read()
        self._pending = ""
        self._send(signal.SIGUSR2)
        found: list[str] = []
        deadline = timing.Deadline.after(_PATIENCE)
        while not deadline.expired:
            *lines, self._pending = (self._pending + self._file.read()).split("\n")
            for text in lines:
                line = parse(text, (_DRIFT, _DONE))
                if line is not None and line.message == _DRIFT:
                    found.append(line.fields.get("err", text))
                elif line is not None:
                    return found
            await timing.sleep(0.005)
        raise SchedlabError(
            f"the scheduler did not compare its state within {_PATIENCE:g} s of SIGUSR2",
            hint=f"read {self._file.name}",
        )
