"""`schedlab`: one program, its commands imported only when called, so that `--help` is there at once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import click

from schedlab.errors import SchedlabError


@dataclass(frozen=True, slots=True)
class Command:
    """Where a command is, and what it says of itself before it is imported."""

    target: str
    help: str


COMMANDS: Mapping[str, Command] = {
    "test": Command("schedlab.suite.commands:test", "Run suites against schedulers."),
    "lint": Command("schedlab.suite.commands:lint", "Check test files without running them."),
    "migrate": Command("schedlab.migrate.commands:migrate", "Convert tests of Chainsaw or kuttl."),
    "schema": Command("schedlab.suite.commands:schema", "Print the JSON schema of a kind of file."),
    "tools": Command("schedlab.cluster.commands:tools", "Install and find the control plane programs."),
    "up": Command("schedlab.cluster.commands:up", "Start a control plane with fake nodes."),
    "down": Command("schedlab.cluster.commands:down", "Stop a control plane."),
    "status": Command("schedlab.cluster.commands:status", "Show the control planes that run."),
    "kubeconfig": Command("schedlab.cluster.commands:kubeconfig", "Print the kubeconfig of a control plane."),
    "logs": Command("schedlab.cluster.commands:logs", "Show the logs of a control plane."),
    "report": Command(
        "schedlab.report.drawing:report", "Write the page about a run, or merge the runs of shards."
    ),
    "leaders": Command(
        "schedlab.report.commands:leaders", "Say how leadership changed hands in recorded runs."
    ),
    "coverage": Command(
        "schedlab.coverage.commands:coverage", "Say which documented statements the tests prove."
    ),
    "judge": Command(
        "schedlab.judge.commands:judge", "Judge recorded runs by what holds for every scheduler."
    ),
    "fuzz": Command("schedlab.fuzz.commands:fuzz", "Compare schedulers on generated clusters."),
    "compare": Command(
        "schedlab.compare.commands:compare",
        "Say what two schedulers, versions or configurations do otherwise.",
    ),
    "replay": Command(
        "schedlab.compare.replay_command:replay", "Ask schedulers again about a moment of a recorded test."
    ),
    "record": Command("schedlab.fuzz.commands:record", "Record the decisions of a scheduler."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """The command of a name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the closest command to one that does not exist."""
        from schedlab.suite.positions import did_you_mean  # noqa: PLC0415 - only when something is wrong

        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(
                f"there is no command {args[0]!r}; {did_you_mean(args[0], list(COMMANDS))}", ctx
            )
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="schedlab", prog_name="schedlab")
def cli() -> None:
    """A laboratory for Kubernetes schedulers.

    Boots a real control plane with fake GPU nodes and runs suites of YAML tests against any scheduler.
    """


def main() -> None:
    """Run a command; what goes wrong is told as a message and a hint, never as a traceback."""
    try:
        cli(prog_name="schedlab")
    except SchedlabError as error:
        click.echo(error.render(), err=True)
        sys.exit(error.exit_code)
