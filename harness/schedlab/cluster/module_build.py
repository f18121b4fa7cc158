"""A `go.mod` for building a program of another version than the pinned one.

A module's own replacements do not count for those who require it, so they are taken over. Kubernetes replaces
its staging modules by directories that its module does not hold; what was published from these directories
carries the minor and patch number of the release (k8s.io/api v0.34.4 for v1.34.4). Versions are thereby those
that the module itself names, and their content is checked against its `go.sum` and Go's checksum database.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from schedlab.cluster import go_toolchain
from schedlab.cluster.go_toolchain import Go
from schedlab.cluster.versions import Module
from schedlab.errors import EnvironmentStartError

#: Go may complete the `go.mod` that is written here with what the module requires.
FLAGS: Final = ["-mod=mod"]
_NAME = "module schedlab.local/build"
_STAGING = "./staging/src/"
_GO_LINE = re.compile(r"^go (\S+)$", re.MULTILINE)
_REPLACEMENT = re.compile(r"^(?:replace\s+|\s+)(\S+)(?: v\S+)? => (\S+)(?: (v\S+))?", re.MULTILINE)
_DOWNLOAD_SECONDS = 600


class _Downloaded(msgspec.Struct, rename="pascal"):
    """What `go mod download -json` prints."""

    dir: str = ""
    error: str = ""


def lay_out(module: Module, directory: Path, go: Go) -> None:
    """Write a `go.mod` and a `go.sum` into a directory, in which packages of the module can be built.

    Raises:
        EnvironmentStartError: the module cannot be fetched, or needs a newer Go, or parts that are nowhere.
    """
    (directory / "go.mod").write_text(f"{_NAME}\n")
    source = Path(_download(module, directory, go).dir)
    own = (source / "go.mod").read_text()
    line = _GO_LINE.search(own)
    needed = line[1] if line else "1.21"
    if go_toolchain.parse(f"go{needed}") > go_toolchain.parse(go.version):
        raise EnvironmentStartError(
            f"{module} needs Go {needed}, and {go.command} is {go.version}",
            hint="put a newer Go first on PATH",
        )
    lines = [_NAME, f"go {needed}", f"require {module.path} {module.version}"]
    lines += [f"replace {old} => {new}" for old, new in _replacements(own, module)]
    (directory / "go.mod").write_text("\n".join(lines) + "\n")
    if (source / "go.sum").exists():
        (directory / "go.sum").write_bytes((source / "go.sum").read_bytes())


def _download(module: Module, directory: Path, go: Go) -> _Downloaded:
    """Fetch a module, or find it where Go keeps those that it has fetched."""
    argv = [str(go.command), "mod", "download", "-json", str(module)]
    try:
        answer = subprocess.run(
            argv,
            cwd=directory,
            env=go_toolchain.environment(),
            capture_output=True,
            text=True,
            timeout=_DOWNLOAD_SECONDS,
            check=False,
        )
        found = msgspec.json.decode(answer.stdout, type=_Downloaded)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentStartError(f"{module} was not fetched in {_DOWNLOAD_SECONDS} s") from error
    except msgspec.DecodeError as error:
        raise EnvironmentStartError(f"{module} cannot be fetched: {answer.stderr.strip()}") from error
    if found.error:
        raise EnvironmentStartError(
            f"{module} cannot be fetched: {found.error}", hint="is there such a version? if so, check GOPROXY"
        )
    return found


def _replacements(go_mod: str, module: Module) -> Iterator[tuple[str, str]]:
    """What a module replaces, by what can be fetched."""
    instead = dict(_other_kubernetes(go_mod, module))
    for old, new, version in _REPLACEMENT.findall(go_mod):
        if version:
            yield old, f"{new} {instead.get(version, version)}"
        elif new.startswith(_STAGING):
            yield old, f"{old} v0.{module.version.removeprefix('v').partition('.')[2]}"
        else:
            raise EnvironmentStartError(
                f"{module} replaces {old} by its directory {new}, which cannot be fetched",
                hint="build the program yourself and declare its path as the command",
            )


def _other_kubernetes(go_mod: str, module: Module) -> Iterator[tuple[str, str]]:
    """The versions of Kubernetes and its staging modules that a module names, and those that are wanted."""
    if not module.kubernetes:
        return
    named = re.search(r"^\s+k8s\.io/kubernetes => k8s\.io/kubernetes v1\.(\S+)", go_mod, re.MULTILINE)
    if named is None:
        raise EnvironmentStartError(
            f"{module} pins no version of Kubernetes that could be replaced", hint="leave out kubernetes"
        )
    wanted = module.kubernetes.partition(".")[2]
    yield from ((f"v{major}.{named[1]}", f"v{major}.{wanted}") for major in (0, 1))
