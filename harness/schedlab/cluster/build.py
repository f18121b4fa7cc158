"""Builds programs from Go modules: the way that needs no release server.

`controlplane/go.mod` pins every module and `go.sum` their content, so the result is the same wherever it is
built. All missing programs are built by one Go command, as they share most of their packages. A program of
another version is built from a `go.mod` of its own (`module_build`).
"""

from __future__ import annotations

import hashlib
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from schedlab import timing
from schedlab.cluster import go_toolchain, module_build
from schedlab.cluster.go_toolchain import CONTROL_PLANE, Go
from schedlab.cluster.progress import Progress, Task
from schedlab.cluster.tool_cache import Origin, ToolCache, ask_version
from schedlab.cluster.versions import KUBERNETES, Module, Program
from schedlab.errors import EnvironmentStartError

# CPU seconds, measured on building all programs from nothing: 2,800 packages, 7 programs to link.
_PACKAGE_SECONDS = 0.23
_LINK_SECONDS = 6.0
_TAIL_LINES = 20
_TICK_SECONDS = 1.0
_IN_CACHE = "available in build cache"


def install(programs: Sequence[Program], cache: ToolCache, progress: Progress) -> None:
    """Build `programs` and put them into the cache.

    Raises:
        EnvironmentStartError: there is no Go, or it fails; the message ends with its last lines.
    """
    go = go_toolchain.find(cache, progress)
    of_modules: dict[Module | None, list[Program]] = {}
    for program in programs:
        of_modules.setdefault(program.module, []).append(program)
    for module, of_module in of_modules.items():
        if module is None:
            _build(go, CONTROL_PLANE, of_module, cache, progress)
            continue
        with cache.scratch() as scratch:
            module_build.lay_out(module, scratch, go)
            _build(go, scratch, of_module, cache, progress)


def _build(
    go: Go, directory: Path, programs: Sequence[Program], cache: ToolCache, progress: Progress
) -> None:
    """Build programs in the directory of one `go.mod`."""
    packages = [program.package for program in programs]
    module = programs[0].module
    flags = ["-trimpath", "-ldflags", _linker_flags(module.version if module else f"v{KUBERNETES}")]
    flags += module_build.FLAGS if module else []
    with progress.task("finding out what there is to compile", 0, "packages") as task:
        stale = "{{if .Stale}}{{.ImportPath}} {{.StaleReason}}{{end}}"
        lines = _run(go, directory, ["list", "-deps", *flags, "-f", stale, *packages], task)
    total = sum(not line.startswith("go: ") and _IN_CACHE not in line for line in lines)
    names = ", ".join(program.key for program in programs)
    progress.note(f"building {names} with {go.version}: {_estimate(total, len(programs))}")
    with cache.scratch() as scratch:
        with progress.task("compiling and linking", total, "packages") as task:
            _run(go, directory, ["build", "-v", *flags, "-o", f"{scratch}/", *packages], task)
        for program in programs:
            _publish(program, scratch / program.built_name, go, cache)


def _estimate(packages: int, programs: int) -> str:
    """How long a build will take, for a person."""
    seconds = (packages * _PACKAGE_SECONDS + programs * _LINK_SECONDS) / (os.cpu_count() or 1)
    return f"{packages} packages to compile, about {timing.format_duration(seconds)}"


def _publish(program: Program, file: Path, go: Go, cache: ToolCache) -> None:
    version = ask_version(program, file)
    if version != program.version:
        raise EnvironmentStartError(
            f"{program.package} was built as version {version}, not {program.version}",
            hint=f"{CONTROL_PLANE / 'go.mod'} and versions.py differ; reinstall schedlab",
        )
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    of_module = f" of {program.module}" if program.module else ""
    cache.publish(program, file, Origin("build", f"{program.package}{of_module} with {go.version}", digest))


def _linker_flags(version: str) -> str:
    """What Kubernetes' own release build stamps into its programs, so that they know their version."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    stamp = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    variables = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamp.items())
    return f"-s -w {variables}"


def _run(go: Go, directory: Path, arguments: Sequence[str], task: Task) -> list[str]:
    """Run Go in a directory; returns the lines it printed.

    `task` counts them, and is told the time when none come. `go build -v` prints a line per package that it
    compiles.
    """
    process = subprocess.Popen(
        [str(go.command), *arguments],
        cwd=directory,
        env=go_toolchain.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: list[str] = []
    try:
        for line in _lines_and_ticks(process):
            if line is not None:
                lines.append(line.rstrip())
            task.update(len(lines))
        code = process.wait()
    finally:
        process.kill()  # does nothing once it has ended
        process.wait()
    if code != 0:
        last = "\n".join(lines[-_TAIL_LINES:])
        raise EnvironmentStartError(
            f"{task.title} failed: go ended with exit code {code}\n{last}",
            hint="if modules cannot be fetched, check GOPROXY; or name a directory with the programs in "
            "KUBEBUILDER_ASSETS",
        )
    return lines


def _lines_and_ticks(process: subprocess.Popen[str]) -> Iterator[str | None]:
    """The lines that a process prints until it closes its output, and None for each second without one."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        with process.stdout or nullcontext(()) as output:
            for line in output:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=_TICK_SECONDS)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        yield line
