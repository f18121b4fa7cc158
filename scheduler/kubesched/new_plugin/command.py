"""`kubesched new-plugin NAME`: copies the template beside this file, with its plugin renamed.

The template is a project like any other, about a plugin called MyPlugin: it can be read, and copied by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from kubesched.config.defaults import IN_TREE

TEMPLATE = Path(__file__).with_name("template")
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LEFT_BY_TOOLS = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


@click.command("new-plugin")
@click.argument("name")
@click.argument("directory", required=False, type=click.Path(path_type=Path))
def new_plugin(name: str, directory: Path | None) -> None:
    """Make a project for a scheduler plugin called NAME, such as PowerBudget.

    DIRECTORY is the name in lower case with hyphens, if it is not given.
    """
    if not _NAME.fullmatch(name):
        raise click.ClickException(f"{name!r} is no plugin name: write words together, as in PowerBudget")
    if name in IN_TREE:
        raise click.ClickException(f"{name} is a plugin of kubesched itself: choose another name")
    target = directory or Path(spelling(name, "-"))
    if target.exists() and any(target.iterdir()):
        raise click.ClickException(f"{target} is there and not empty: name another directory")
    made = write(name, target)
    click.echo(f"{target}: {len(made)} files\n")
    click.echo(f"next: cd {target}; pip install --editable .; pytest")


def write(name: str, target: Path) -> list[Path]:
    """Write the template for a plugin of that name into a directory; give the files, in order."""
    renames = {
        "MyPlugin": name,
        "my_plugin": spelling(name, "_"),
        "my-plugin": spelling(name, "-"),
    }
    made = []
    for source in sorted(TEMPLATE.rglob("*")):
        inner = source.relative_to(TEMPLATE)
        if source.is_dir() or _LEFT_BY_TOOLS.intersection(inner.parts):
            continue
        path = target / _renamed(str(inner), renames)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_renamed(source.read_text(), renames))
        made.append(path)
    return made


def spelling(name: str, hyphen: str) -> str:
    """A name of words written together, in lower case with something between the words."""
    return _HUMP.sub(hyphen, name).lower()


def _renamed(text: str, renames: dict[str, str]) -> str:
    for old, new in renames.items():
        text = text.replace(old, new)
    return text
