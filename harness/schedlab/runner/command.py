"""`schedlab test`: pytest with this project's settings and terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_FLAGS = {
    "strict_flaky": "--strict-flaky",
    "sensitivity": "--sensitivity",
    "fail_fast": "-x",
    "github": "--github",
    "allow_scripts": "--allow-scripts",
}
_VALUES = {
    "selector": "--selector",
    "include_test_regex": "--include-test-regex",
    "exclude_test_regex": "--exclude-test-regex",
    "flake_attempts": "--flake-attempts",
    "repeat": "--repeat",
    "artifacts": "--artifacts",
    "shard": "--shard",
    "durations_from": "--durations-from",
    "budget": "--budget",
    "parallel": "--numprocesses",
}


def run(rest: Sequence[str], options: Mapping[str, object]) -> int:
    """The exit code of the run; `rest` are the paths and whatever options are pytest's own."""
    return int(pytest.main(arguments(rest, options)))


def arguments(rest: Sequence[str], options: Mapping[str, object]) -> list[str]:
    """What pytest is called with."""
    settings = Path(__file__).with_name("pytest.ini")
    argv = [
        "-c",
        str(settings),
        f"--rootdir={Path.cwd()}",
        "-p",
        "no:asyncio",
        "-p",
        "schedlab",
        "-q",
        "-s",
        "-rN",
        "--schedlab-terminal",
    ]
    names = options.get("scheduler") or ()
    argv += [f"--scheduler={name}" for name in names] if isinstance(names, tuple) else []
    argv += [flag for name, flag in _FLAGS.items() if options.get(name)]
    argv += [f"{flag}={options[name]}" for name, flag in _VALUES.items() if options.get(name) is not None]
    if options.get("no_color"):
        argv.append("--color=no")
    return [*argv, *rest]
