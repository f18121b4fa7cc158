"""`schedlab report`: writes the page about a run, and merges the runs of shards into one."""

from __future__ import annotations

from pathlib import Path

import click

from schedlab.report import document, page
from schedlab.report.document import Report
from schedlab.report.telling import teller

_RUN = click.Path(exists=True, file_okay=False, path_type=Path)


class _DrawsByDefault(click.Group):
    """A group that takes a path for the argument of `draw`, so that `schedlab report RUN` is enough."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, or `draw`."""
        named = args and (args[0] in self.commands or args[0].startswith("-"))
        return super().resolve_command(ctx, args if named else ["draw", *args])


@click.group(cls=_DrawsByDefault)
def report() -> None:
    """Write the page about a run, or merge the runs of shards.

    `schedlab report RUN` is `schedlab report draw RUN`. RUN is a directory that `schedlab test` has written,
    such as artifacts/latest.
    """


@report.command()
@click.argument("run", type=_RUN)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="[RUN/report.html]")
def draw(run: Path, html: Path | None) -> None:
    """Write the page about RUN; prints its path."""
    _draw(document.read(run), html or run / page.FILE)


@report.command()
@click.argument("runs", nargs=-1, required=True, type=_RUN)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("artifacts/merged"),
    show_default=True,
    help="Where report.json and report.html go.",
)
def merge(runs: tuple[Path, ...], output: Path) -> None:
    """Merge RUNS, the shards of one run, into one report and one page."""
    merged = document.merged([document.read(run) for run in runs])
    click.echo(str(document.write(merged, output)))
    _draw(merged, output / page.FILE)


def _draw(about: Report, file: Path) -> None:
    tell = teller(len(about.results), lambda text: click.echo(text, err=True))
    click.echo(str(page.write(about, tell, file)))
