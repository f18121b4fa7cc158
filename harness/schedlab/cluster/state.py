"""What schedlab has running on this machine, written down so that it can be found and ended by someone else.

One JSON file per control plane under the user's state directory, replaced atomically after every change. A
record names its owner, the program that must be alive for the control plane to be wanted; one without an
owner was started by `schedlab up` and stays until `schedlab down`.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from schedlab import timing
from schedlab.cluster.layout import Layout
from schedlab.cluster.pki import write_private
from schedlab.cluster.processes import Identity
from schedlab.errors import EnvironmentStartError, UsageError

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


class ProcessRecord(msgspec.Struct, frozen=True):
    """One program of a control plane."""

    name: str
    identity: Identity
    argv: list[str]
    log: str


class ClusterRecord(msgspec.Struct):
    """One control plane: whose it is, what runs for it, and which directories go with it.

    A `background` one has been started by `schedlab up`: once it runs it has no owner and is wanted until
    something ends it. `directory` holds logs and the audit log; `private` holds keys, kubeconfigs and etcd's
    data. `owns_directory` says that the directory was made for the control plane alone and goes when it goes.
    """

    id: str
    name: str
    owner: Identity | None
    background: bool
    directory: str
    private: str
    owns_directory: bool
    created: str
    server: str = ""
    ports: dict[str, int] = {}
    versions: dict[str, str] = {}
    processes: list[ProcessRecord] = []

    @property
    def wanted(self) -> bool:
        """True while its owner runs; without an owner, while any of its programs does."""
        return self.owner.alive if self.owner is not None else bool(self.alive)

    @property
    def alive(self) -> list[ProcessRecord]:
        """The recorded programs that still run."""
        return [process for process in self.processes if process.identity.alive]

    @property
    def layout(self) -> Layout:
        """Where its files lie."""
        return Layout(directory=Path(self.directory), private=Path(self.private))


def state_directory() -> Path:
    """Where records are kept: SCHEDLAB_STATE_DIR, or `schedlab` under XDG_STATE_HOME."""
    named = os.environ.get("SCHEDLAB_STATE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(base) / "schedlab"


class Registry:
    """The records in one state directory; `failures` is where the logs of starts that failed are kept."""

    def __init__(self, directory: Path | None = None) -> None:
        state = directory or state_directory()
        self.failures = state / "failures"
        self._directory = state / "clusters"
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep others from adding or reaping meanwhile; waits for its turn."""
        with (self._directory / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def add(self, record: ClusterRecord) -> None:
        """Write a new record.

        Raises:
            UsageError: it is for the background and another one there has its name.
        """
        with self.lock():
            if record.background and self.named(record.name) is not None:
                raise UsageError(
                    f"cluster {record.name!r} is already running",
                    hint=f"choose another with --name, or run `schedlab down --name {record.name}` first",
                )
            self.save(record)

    def save(self, record: ClusterRecord) -> None:
        """Write a record, new or changed."""
        write_private(self._file(record.id), msgspec.json.format(msgspec.json.encode(record), indent=1))

    def forget(self, record: ClusterRecord) -> None:
        """Remove a record, once nothing of its control plane is left."""
        self._file(record.id).unlink(missing_ok=True)

    def records(self) -> list[ClusterRecord]:
        """All records, oldest first.

        Raises:
            EnvironmentStartError: one cannot be read; the message names its file.
        """
        found = [record for path in self._directory.glob("*.json") if (record := _read(path)) is not None]
        return sorted(found, key=lambda record: record.created)

    def named(self, name: str) -> ClusterRecord | None:
        """The control plane that `schedlab up` started under `name`, or None."""
        return next((one for one in self.records() if one.background and one.name == name), None)

    def _file(self, identifier: str) -> Path:
        return self._directory / f"{identifier}.json"


def _read(path: Path) -> ClusterRecord | None:
    """A record, or None if its control plane has been removed meanwhile."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=ClusterRecord)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise EnvironmentStartError(
            f"{path} is not a record of this version of schedlab: {error}",
            hint="end the processes that it lists, then remove it",
        ) from error


def new_record(
    name: str, *, owner: Identity | None, background: bool, layout: Layout, owns_directory: bool
) -> ClusterRecord:
    """A record for a control plane that is about to start, with an id nobody else has."""
    return ClusterRecord(
        id=f"{name}-{secrets.token_hex(4)}",
        name=name,
        owner=owner,
        background=background,
        directory=str(layout.directory),
        private=str(layout.private),
        owns_directory=owns_directory,
        created=timing.now().isoformat(),
    )


def check_name(name: str) -> None:
    """Raise UsageError unless `name` is a DNS label of at most 40 characters."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a cluster",
            hint="use at most 40 of a-z, 0-9 and -, beginning and ending with a letter or digit",
        )
