"""Prints one reference page."""

from __future__ import annotations

import click

from kubesched.reference import api, configuration

PAGES = {"api": api.page, "configuration": configuration.page}


@click.command()
@click.argument("name", type=click.Choice(sorted(PAGES)))
def main(name: str) -> None:
    """Print the reference page NAME."""
    click.echo(PAGES[name](), nl=False)


if __name__ == "__main__":
    main(prog_name="python -m kubesched.reference")
