"""The directory where installed programs are kept, one per program, version and platform.

Whoever has the same versions shares the cache; another version is another directory. A program appears in it
whole or not at all, since it is renamed into place, and only one installation runs at a time.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from schedlab.cluster.versions import Program
from schedlab.errors import EnvironmentStartError

_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_ANSWER_SECONDS = 60


class Verified(msgspec.Struct, frozen=True):
    """A file that has said its version; holds as long as the file has this size and modification time."""

    size: int
    modified: int
    version: str


class Origin(msgspec.Struct, frozen=True):
    """How a program came into the cache: `download` or `build`, from where, and the digest of its file."""

    method: str
    source: str
    sha256: str


def cache_directory() -> Path:
    """Where everything that can be fetched again is kept: SCHEDLAB_CACHE_DIR, or XDG's cache directory."""
    named = os.environ.get("SCHEDLAB_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "schedlab"


def this_platform() -> tuple[str, str]:
    """The operating system and architecture, in Go's words.

    Raises:
        EnvironmentStartError: no release and no build exists for this machine.
    """
    machine = platform.machine().lower()
    if machine not in _MACHINES:
        raise EnvironmentStartError(f"there are no programs for a {machine} machine")
    return sys.platform, _MACHINES[machine]


class ToolCache:
    """The installed programs."""

    def __init__(self, directory: Path | None = None) -> None:
        self._root = directory or cache_directory()
        self._tools = self._root / "tools"

    @property
    def root(self) -> Path:
        """The cache directory as a whole."""
        return self._root

    def path(self, program: Program) -> Path:
        """Where the file of `program` is once it is installed."""
        system, machine = this_platform()
        return self._tools / program.name / f"v{program.version}-{system}-{machine}" / program.name

    def origin(self, program: Program) -> Origin:
        """How an installed program came here."""
        text = (self.path(program).parent / "origin.json").read_bytes()
        return msgspec.json.decode(text, type=Origin)

    @contextmanager
    def lock(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Keep other installations out; `waiting` is called if one is under way and must be waited for."""
        self._tools.mkdir(parents=True, exist_ok=True)
        with (self._tools / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A directory on the cache's file system, removed at the end."""
        self._tools.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix=".partial-", dir=self._tools))
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def publish(self, program: Program, file: Path, origin: Origin) -> Path:
        """Move a verified file into its place, with its origin, in one step; returns its new path."""
        target = self.path(program)
        target.parent.parent.mkdir(parents=True, exist_ok=True)
        with self.scratch() as scratch:
            staged = scratch / "tool"
            staged.mkdir()
            file.rename(staged / program.name)
            (staged / program.name).chmod(0o755)
            (staged / "origin.json").write_bytes(msgspec.json.encode(origin))
            shutil.rmtree(target.parent, ignore_errors=True)
            staged.rename(target.parent)
        return target

    def verify(self, program: Program, path: Path) -> str:
        """The version that the file at `path` says it has; asked again only when the file has changed.

        Raises:
            EnvironmentStartError: it does not run, or its answer holds no version.
        """
        known = self._verified()
        stat = path.stat()
        entry = known.get(str(path))
        if entry is not None and (entry.size, entry.modified) == (stat.st_size, stat.st_mtime_ns):
            return entry.version
        version = ask_version(program, path)
        known[str(path)] = Verified(stat.st_size, stat.st_mtime_ns, version)
        self._root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._root, prefix=".verified-", delete=False) as file:
            file.write(msgspec.json.encode(known))
        Path(file.name).replace(self._root / "verified.json")
        return version

    def _verified(self) -> dict[str, Verified]:
        try:
            text = (self._root / "verified.json").read_bytes()
            return msgspec.json.decode(text, type=dict[str, Verified])
        except (FileNotFoundError, msgspec.DecodeError):
            return {}  # nothing is lost: every program is asked again


def ask_version(program: Program, path: Path) -> str:
    """Run a program to learn its version; one that cannot be asked has the version it was built from.

    Raises:
        EnvironmentStartError: it does not run, or its answer holds no version.
    """
    if not program.version_argv:
        return program.version
    argv = [str(path), *program.version_argv]
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentStartError(
            f"{path} does not run: {error}", hint="remove it, then run `schedlab tools install`"
        ) from error
    match = program.version_pattern.search(answer.stdout + answer.stderr)
    if match is None:
        first = (answer.stdout + answer.stderr).strip().partition("\n")[0]
        raise EnvironmentStartError(f"{path} is not {program.name}: it answered {first!r}")
    return match[1]
