"""`schedlab migrate`: other tools' tests become tests of schedlab."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.argument("tool", type=click.Choice(["chainsaw", "kuttl"]))
@click.argument("source", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where the tests are written.")
def migrate(tool: str, source: Path, out: Path) -> None:
    """Convert the tests of Chainsaw or kuttl below DIR.

    Everything that was not carried over is printed with its place, and exit code 1 says that there is some.
    Exit code 5: no test was found.
    """
    from schedlab.errors import UsageError  # noqa: PLC0415 - keeps --help fast
    from schedlab.migrate import chainsaw, kuttl  # noqa: PLC0415 - as above

    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty", hint="migrate into a new folder")
    findings = chainsaw.migrate(source, out) if tool == "chainsaw" else kuttl.migrate(source, out)
    for problem in findings.left:
        click.echo(str(problem))
    tests = sum(path.name == "test.yaml" for path in findings.written)
    click.echo(f"{tests} tests written to {out}, {len(findings.left)} things to look at", err=True)
    if not tests:
        sys.exit(5)
    if findings.left:
        sys.exit(1)
