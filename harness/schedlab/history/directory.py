"""A history on disk: one directory per test run, readable by any later version that knows its number.

history.json     {"version": 1, …}: what was run
entries.jsonl    revisions, gaps and process events, one per line, in order of receipt
audit.jsonl      the API server's audit log of that time, as the server wrote it
logs/            what the programs printed in that time
"""

from __future__ import annotations

import shutil
from io import BufferedWriter
from pathlib import Path
from typing import Any

import msgspec

from schedlab.errors import UsageError
from schedlab.history.audit import AuditLog
from schedlab.history.entries import Entry, Revision
from schedlab.history.history import History

VERSION = 1
MANIFEST = "history.json"
ENTRIES = "entries.jsonl"
AUDIT = "audit.jsonl"
_MAY_QUOTE = ("annotations", "managedFields")
"""What `kubectl apply` and others write a Secret's content into once more."""


class RunDirectory:
    """Where one history is being written to."""

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        (path / MANIFEST).write_bytes(
            msgspec.json.format(msgspec.json.encode({"version": VERSION, **about})) + b"\n"
        )
        self._entries: BufferedWriter = (path / ENTRIES).open("wb")
        self._encoder = msgspec.json.Encoder()

    def write(self, entry: Entry) -> None:
        """Append one entry."""
        if not self._entries.closed:
            self._entries.write(self._encoder.encode(_public(entry)) + b"\n")

    def keep_audit(self, log: AuditLog) -> None:
        """Copy the part of the audit log that belongs to this history."""
        copy_tail(log.path, log.start, self.path / AUDIT)

    def keep_log(self, name: str, log: Path, start: int) -> Path:
        """Copy what a program's log got after `start` bytes; returns the copy."""
        target = self.path / "logs" / f"{name}.log"
        target.parent.mkdir(exist_ok=True)
        copy_tail(log, start, target)
        return target

    def close(self) -> None:
        """Flush and close; later entries are not written."""
        self._entries.close()


def _public(entry: Entry) -> Entry:
    """The entry without what a Secret hides: a record is kept, sent around and shown."""
    if not isinstance(entry, Revision) or entry.kind != "Secret":
        return entry
    shown = {key: value for key, value in entry.object.items() if key not in ("data", "stringData")}
    metadata = {key: value for key, value in shown["metadata"].items() if key not in _MAY_QUOTE}
    return msgspec.structs.replace(entry, object={**shown, "metadata": metadata})


def copy_tail(source: Path, start: int, target: Path) -> None:
    """Copy a file from byte `start` on; nothing if it does not exist."""
    if not source.exists():
        return
    with source.open("rb") as reader, target.open("wb") as writer:
        reader.seek(start)
        shutil.copyfileobj(reader, writer)


def load(path: Path) -> History:
    """Read a history back.

    Raises:
        UsageError: there is none, or it was written by a later version.
    """
    try:
        manifest = msgspec.json.decode((path / MANIFEST).read_bytes(), type=dict[str, Any])
    except FileNotFoundError as error:
        raise UsageError(
            f"{path} holds no history", hint=f"name a directory that has a {MANIFEST}"
        ) from error
    if manifest.get("version") != VERSION:
        raise UsageError(
            f"{path} is a history of version {manifest.get('version')}, this schedlab reads {VERSION}",
            hint="read it with the schedlab that wrote it",
        )
    history = History(audit=AuditLog(path / AUDIT, start=0))
    decoder: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)
    with (path / ENTRIES).open("rb") as lines:
        for line in lines:
            history.append(decoder.decode(line))
    return history
