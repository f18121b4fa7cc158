"""The command line: kube-scheduler's flags and exit codes, and kubesched's own subcommands.

Nothing heavy is imported before it is known to be needed, so `--help` answers at once. Exit codes are
upstream's: 1 for anything that failed, a lost lease included; 0 after SIGTERM only if leader election is on.
Follows `cmd/kube-scheduler/app/server.go` and `component-base/cli/run.go`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from kubesched.config.flags import ALL, usage
from kubesched.config.flagset import FlagError, Flags, HelpRequestedError, parse

KUBERNETES_VERSION = "v1.36.3"

# Subcommand: where its click command is.
_SUBCOMMANDS = {
    "explain": "kubesched.explain.command:explain",
    "new-plugin": "kubesched.new_plugin.command:new_plugin",
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in _SUBCOMMANDS:
        _subcommand(given[0], given[1:])
    try:
        flags = parse(given, ALL)
    except HelpRequestedError:
        sys.stdout.write(usage())
        sys.exit(0)
    except FlagError as error:
        sys.stderr.write(f"{usage()}\nError: {error}\n")
        sys.exit(1)
    if (version := flags.text("version")) in {"true", "raw"}:
        sys.stdout.write(f"{_version(version)}\n")
        sys.exit(0)
    sys.exit(_run(flags))


def _run(flags: Flags) -> int:
    """Run the scheduler until it is told to stop or cannot go on; the exit code."""
    from kubesched import logs  # noqa: PLC0415 - the help must not wait for it

    style = flags.text("logging-format")
    split = style in {"text", "json"} and flags.on(f"log-{style}-split-stream")
    logs.configure(int(flags.number("v")), style, flags.items("vmodule"), split=split)
    from kubesched.app import StartupError, serve, setup  # noqa: PLC0415 - the help must not wait for it

    try:
        app = setup(flags)
        if app is None:
            return 0
        return serve(app)
    except StartupError as error:
        logs.get(__name__).error("command failed", error)
        return 1


def _subcommand(name: str, arguments: Sequence[str]) -> NoReturn:
    module, _, attribute = _SUBCOMMANDS[name].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    command.main(args=list(arguments), prog_name=f"kubesched {name}")
    sys.exit(0)


def _version(wanted: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow, and seldom wanted

    try:
        own = version("schedlab")
    except PackageNotFoundError:
        own = "unknown"
    if wanted == "raw":
        python = ".".join(map(str, sys.version_info[:3]))
        return f"kubesched {own} (Kubernetes {KUBERNETES_VERSION}), Python {python}, {sys.platform}"
    return f"kubesched {own} (Kubernetes {KUBERNETES_VERSION})"
