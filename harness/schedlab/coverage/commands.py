"""`schedlab coverage`: what is documented, and what proves it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from schedlab.coverage import page
from schedlab.coverage.statements import load
from schedlab.errors import SchedlabError


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
def coverage(runs: Sequence[Path]) -> None:
    """Print each documented statement with its tests and their verdicts in RUNS, as Markdown.

    RUNS are directories that `schedlab test` has written; the latest one counts where several have a test.
    """
    try:
        click.echo(page.markdown(load(), page.verdicts(runs)), nl=False)
    except SchedlabError as error:
        click.echo(error.render(), err=True)
        sys.exit(error.exit_code)
