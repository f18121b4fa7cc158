"""Ends what a killed schedlab left behind.

A schedlab that dies without a word (SIGKILL, out of memory, a lost machine) leaves its record. The next start
finds that the owner is gone and removes processes, directories and the record; the ports go with the
processes. Nothing is ended by name: a process is ended when its pid, start time and boot are the recorded
ones, or when its environment carries the id of the dead control plane (which also finds what was started but
not yet written down).
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from schedlab import timing
from schedlab.cluster.components import stop_order
from schedlab.cluster.processes import MARKER, Identity
from schedlab.cluster.state import ClusterRecord, Registry

_GRACE = {"kube-apiserver": 5.0}


@dataclass(frozen=True, slots=True)
class Reaped:
    """What was left of one control plane, and is gone now."""

    name: str
    processes: tuple[str, ...]
    directories: tuple[str, ...]


def reap(registry: Registry) -> list[Reaped]:
    """End and remove every control plane whose owner is gone; what others use is left alone."""
    with registry.lock():
        return [remove(registry, record) for record in registry.records() if not record.wanted]


def remove(registry: Registry, record: ClusterRecord) -> Reaped:
    """End every process of a control plane in the right order, remove its directories, forget it."""
    ordered = stop_order(record.processes)
    ended = [one.name for one in ordered if end(one.identity, _GRACE.get(one.name, 2.0))]
    ended += end_marked(record.id)
    directories = [Path(record.private)] + ([Path(record.directory)] if record.owns_directory else [])
    gone = tuple(str(directory) for directory in directories if directory.exists())
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)
    registry.forget(record)
    return Reaped(record.name, tuple(ended), gone)


def end(identity: Identity, grace: float) -> bool:
    """Terminate a process that is not our child and wait until it is gone; False if it was gone already."""
    if not identity.signal(signal.SIGTERM):
        return False
    identity.signal(signal.SIGCONT)
    if not _gone_within(identity, grace):
        identity.signal(signal.SIGKILL)
        _gone_within(identity, 5.0)
    return True


def end_marked(cluster: str) -> list[str]:
    """End what carries the id of a control plane, and name it: children that a program left when it ended."""
    ended = []
    for identity in marked(cluster):
        name = Path((identity.command_line() or ["?"])[0]).name
        if end(identity, 0.5):
            ended.append(name)
    return ended


def _gone_within(identity: Identity, seconds: float) -> bool:
    deadline = timing.Deadline.after(seconds)
    while identity.alive:
        if deadline.expired:
            return False
        timing.pause(0.01)
    return True


def marked(cluster: str) -> Iterable[Identity]:
    """Processes of this user whose environment carries the id of a control plane."""
    needle = f"{MARKER}={cluster}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:  # it ended, or it belongs to somebody else
            continue
        if needle in environment.split(b"\0") and (identity := Identity.of(int(entry.name))) is not None:
            yield identity
