"""The programs that a control plane is made of: found, verified, and installed where they are missing.

They are looked for, in this order, in a directory given by the caller, in the files that
TEST_ASSET_KUBE_APISERVER and its likes name, in the directory KUBEBUILDER_ASSETS, in the cache. Wherever one
is found it must say the version that `versions` pins: another version has other texts and other scores, and
every comparison would be wrong. Programs that are wanted at another version (`kube-scheduler@1.34.4`) are in
the cache only.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.cluster import build, download
from schedlab.cluster.progress import Progress, Silent
from schedlab.cluster.tool_cache import ToolCache
from schedlab.cluster.versions import LOCAL_BACKEND, Program, programs
from schedlab.errors import EnvironmentStartError

METHODS = ("download", "build")


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that is there and says the version that is wanted. `source` tells where it was found."""

    name: str
    path: Path
    version: str
    source: str


class Tools:
    """Programs by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def path(self, name: str) -> Path:
        """The file of a program.

        Raises:
            EnvironmentStartError: the program is not among these.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise EnvironmentStartError(
                f"{name} is not installed", hint=f"run `schedlab tools install {name}`"
            )
        return tool.path

    def versions(self) -> dict[str, str]:
        """The version of each program."""
        return {tool.name: tool.version for tool in self}

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())


def find(
    names: Sequence[str] = LOCAL_BACKEND, *, assets: Path | None = None, cache: ToolCache | None = None
) -> Tools:
    """All programs called `names`, found and verified; installs nothing.

    Raises:
        EnvironmentStartError: some are missing (the message lists them), or one has another version.
    """
    return _complete(programs(names), locate(names, assets=assets, cache=cache))


def _complete(wanted: Iterable[Program], tools: Tools) -> Tools:
    missing = [program.key for program in wanted if program.key not in tools]
    if missing:
        raise EnvironmentStartError(
            f"not installed: {', '.join(missing)}",
            hint="run `schedlab tools install`, or name a directory that has them in KUBEBUILDER_ASSETS",
        )
    return tools


def locate(
    names: Sequence[str] = LOCAL_BACKEND, *, assets: Path | None = None, cache: ToolCache | None = None
) -> Tools:
    """Those of the programs called `names` that are there, verified.

    Raises:
        EnvironmentStartError: one has another version, or a variable names a file that does not exist.
    """
    return located(programs(names), assets=assets, cache=cache)


def located(
    wanted: Iterable[Program], *, assets: Path | None = None, cache: ToolCache | None = None
) -> Tools:
    """Those of some programs that are there, verified.

    Raises:
        EnvironmentStartError: one has another version, or a variable names a file that does not exist.
    """
    cache = cache or ToolCache()
    found = (_locate(program, assets, cache) for program in wanted)
    return Tools(tool for tool in found if tool is not None)


def _locate(program: Program, assets: Path | None, cache: ToolCache) -> Tool | None:
    candidates = [] if program.module else _candidates(program, assets, os.environ)
    for source, path in candidates:
        if not path.is_file():
            if source == program.asset_variable:
                raise EnvironmentStartError(
                    f"{source} names {path}, which is not a file", hint=f"unset {source}"
                )
            continue
        return _checked(program, path, source, cache)
    path = cache.path(program)
    return (
        _checked(program, path, f"cache, by {cache.origin(program).method}", cache)
        if path.is_file()
        else None
    )


def _candidates(
    program: Program, assets: Path | None, environment: Mapping[str, str]
) -> Iterator[tuple[str, Path]]:
    if assets is not None:
        yield "--assets", assets / program.name
    if file := environment.get(program.asset_variable):
        yield program.asset_variable, Path(file)
    if directory := environment.get("KUBEBUILDER_ASSETS"):
        yield "KUBEBUILDER_ASSETS", Path(directory) / program.name


def _checked(program: Program, path: Path, source: str, cache: ToolCache) -> Tool:
    version = cache.verify(program, path)
    if version != program.version:
        raise EnvironmentStartError(
            f"{path} (from {source}) is {program.name} {version}; this schedlab needs {program.version}",
            hint=f"take it away from {source}, then run `schedlab tools install {program.name}`",
        )
    return Tool(program.key, path.absolute(), version, source)


def install(
    progress: Progress | None = None,
    names: Sequence[str] = LOCAL_BACKEND,
    *,
    assets: Path | None = None,
    cache: ToolCache | None = None,
    methods: Sequence[str] = METHODS,
) -> Tools:
    """All programs called `names`; what is missing is downloaded, and what cannot be is built.

    Only one installation runs at a time on a cache; a second one waits, says so, and then finds what the
    first has installed.

    Raises:
        EnvironmentStartError: something is missing and no method could provide it; or a download is not what
            its publisher says it is.
    """
    return installed(programs(names), progress, assets=assets, cache=cache, methods=methods)


def installed(
    wanted: Sequence[Program],
    progress: Progress | None = None,
    *,
    assets: Path | None = None,
    cache: ToolCache | None = None,
    methods: Sequence[str] = METHODS,
) -> Tools:
    """Some programs, of which those that are missing are downloaded or built as `install` does.

    Raises:
        EnvironmentStartError: as `install`.
    """
    progress, cache = progress or Silent(), cache or ToolCache()
    tools = located(wanted, assets=assets, cache=cache)
    if all(program.key in tools for program in wanted):
        return tools
    with cache.lock(lambda: progress.note("another installation is under way; waiting for it to end")):
        tools = located(wanted, assets=assets, cache=cache)
        missing = [program for program in wanted if program.key not in tools]
        if "download" in methods:
            missing = download.install(missing, cache, progress)
        if missing and "build" in methods:
            build.install(missing, cache, progress)
    return _complete(wanted, located(wanted, assets=assets, cache=cache))
