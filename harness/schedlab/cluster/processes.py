"""Programs that schedlab starts, each known by more than its pid.

A pid alone is reused; pid, start time and boot together name one process for good. That identity is written
down before anything else can fail, so that a later start can end exactly what this one left. Starting and
stopping are plain blocking calls: they belong to no event loop, so a control plane outlives the loop it was
started in.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.errors import EnvironmentStartError

MARKER = "SCHEDLAB_CLUSTER"
"""Environment variable that every process of a control plane carries; its value is the control plane's id."""

_SHIM = Path(__file__).with_name("exec_shim.py")
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Identity:
    """One process, told apart from every other one that ever had its pid."""

    pid: int
    started: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """The identity of the process that has `pid` now, or None if there is none (a zombie is none)."""
        try:
            stat = (_PROC / str(pid) / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        fields = stat[
            stat.rindex(")") + 2 :
        ].split()  # after "pid (comm)"; comm may hold spaces and parentheses
        if fields[0] in "ZX":
            return None
        return cls(pid=pid, started=int(fields[19]), boot=_boot())

    @property
    def alive(self) -> bool:
        """True while this very process runs."""
        return Identity.of(self.pid) == self

    def signal(self, number: int) -> bool:
        """Send a signal to this very process; False if it is gone."""
        if not self.alive:
            return False
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def command_line(self) -> list[str]:
        """The argument vector it runs with now; empty if it is gone."""
        try:
            raw = (_PROC / str(self.pid) / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return []
        return [part.decode(errors="replace") for part in raw.split(b"\0")[:-1]]


def _boot() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def require_proc() -> None:
    """Raise unless the system tells about its processes the way schedlab reads it."""
    if not (_PROC / "self/stat").exists():
        raise EnvironmentStartError(
            "the local backend needs /proc, which this system lacks",
            hint="run schedlab on Linux, or in a Linux container",
        )


class Process:
    """A running program with its log; started by `start`, ended by `stop`."""

    def __init__(self, name: str, argv: Sequence[str], log: Path, popen: subprocess.Popen[bytes]) -> None:
        self.name = name
        self.argv = list(argv)
        self.log = log
        self.identity = Identity.of(popen.pid) or Identity(popen.pid, 0, _boot())
        self._popen = popen

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The exit code (negative: the signal that ended it), or None while it runs."""
        return self._popen.poll()

    @property
    def alive(self) -> bool:
        """True while it runs, a stopped (SIGSTOP) one included."""
        return self.returncode is None

    def signal(self, number: int) -> None:
        """Send a signal; a process that has ended is left alone."""
        self._popen.send_signal(number)

    async def wait(self, within: float | None = None) -> int | None:
        """The exit code once it ends, or None if it still runs after `within` seconds."""
        if not self.alive:
            return self.returncode
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:  # it ended in between, and another thread has collected it
            return self.returncode
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(handle, ended.set)
        try:
            async with asyncio.timeout(within):
                await ended.wait()
        except TimeoutError:
            return None
        finally:
            loop.remove_reader(handle)
            os.close(handle)
        return self._popen.wait()

    def stop_now(self, grace: float = 5.0) -> int:
        """End it: SIGTERM, then SIGKILL if it still runs after `grace` seconds. Returns the exit code."""
        if self.alive:
            self._popen.terminate()
            self._popen.send_signal(signal.SIGCONT)  # a stopped process would not see the SIGTERM
            try:
                self._popen.wait(grace)
            except subprocess.TimeoutExpired:
                self._popen.kill()
        return self._popen.wait()

    async def stop(self, grace: float = 5.0) -> int:
        """`stop_now` without blocking the event loop."""
        return await asyncio.to_thread(self.stop_now, grace)

    def detach(self) -> None:
        """Let it outlive this program: nobody here will wait for it any more."""
        self._popen.returncode = 0

    def tail(self, lines: int = 15) -> str:
        """The last lines of its log."""
        return tail(self.log, lines)


def tail(log: Path, lines: int) -> str:
    """The last `lines` lines of a file, of its last 64 KiB at most; empty if there is no such file."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 65536))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])


def start(
    name: str,
    argv: Sequence[str],
    *,
    log: Path,
    env: Mapping[str, str],
    cwd: Path | None = None,
    dies_with_parent: bool = True,
) -> Process:
    """Start a program in a session of its own, its output appended to `log`.

    The own session keeps Ctrl-C at the terminal from reaching it, so that teardown has an order. It does not
    inherit this program's environment, only `env`. With `dies_with_parent` Linux kills it when this program
    dies; that signal really comes at the end of the *thread* that started it, so it is asked for on the main
    thread only, and elsewhere the reaper alone sees to it.

    Raises:
        EnvironmentStartError: the program cannot be executed.
    """
    program = Path(argv[0])
    if not os.access(program, os.X_OK):
        raise EnvironmentStartError(
            f"{name}: {program} is not an executable file", hint="run `schedlab tools list`"
        )
    command = list(argv)
    if dies_with_parent and threading.current_thread() is threading.main_thread():
        command = [sys.executable, "-I", "-S", str(_SHIM), str(os.getpid()), *argv]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        popen = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
    return Process(name, argv, log, popen)
