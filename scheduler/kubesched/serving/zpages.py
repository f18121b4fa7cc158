"""/statusz and /flagz: what this process is and how it was started, for people.

Follows `component-base/zpages` (1.36): text, with no promise about its form.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from kubesched.clock import Clock
from kubesched.config import durations
from kubesched.config.flag_kinds import DURATION, Value
from kubesched.config.flags import ALL
from kubesched.config.flagset import Flags

_WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees "
    "and is for debugging purposes only."
)
NAME = "kube-scheduler"


def statusz(clock: Clock, version: str, paths: Sequence[str]) -> Callable[[], str]:
    """The page of a process that starts now and serves these paths."""
    started, since = clock.wall(), clock.now()
    binary = version.removeprefix("v")

    def page() -> str:
        seconds = int(clock.now() - since)
        facts = {
            "Started": f"{datetime.fromtimestamp(started, UTC):%a %b %d %H:%M:%S UTC %Y}",
            "Up": f"{seconds // 3600} hr {seconds // 60 % 60:02} min {seconds % 60:02} sec",
            "Python version": platform.python_version(),
            "Binary version": binary,
            "Emulation version": binary.rpartition(".")[0],
            "Paths": " ".join(sorted(paths)),
        }
        lines = [f"{name}= {fact}" for name, fact in facts.items()]
        return "\n".join(["", f"{NAME} statusz", _WARNING, "", *lines, ""])

    return page


def flagz(flags: Flags) -> str:
    """Every flag with its value, as the command line and the defaults have it."""
    values = {flag.name: _shown(flags.values[flag.name], is_duration=flag.kind is DURATION) for flag in ALL}
    values["feature-gates"] = ",".join(flags.items("feature-gates"))
    values["help"] = "false"
    lines = [f"{name}: {values[name]}" for name in sorted(values)]
    return "\n".join(["", f"{NAME} flagz", _WARNING, *lines, ""])


def _shown(value: Value, *, is_duration: bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{','.join(value)}]"
    if isinstance(value, float | int) and is_duration:
        return durations.render(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
