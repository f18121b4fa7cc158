"""docs/api.md: the public surface with what each name says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from kubesched.framework import API_VERSION
from kubesched.reference.surface import MODULES, Entry, entries

_HEAD = """\
<!-- Made by `python -m kubesched.reference api` from the docstrings. -->
# The plugin API, version {version}

All that a plugin and its tests may import. [plugins.md](plugins.md) builds a plugin step by step and says
what is stable. `I32`, `I64`, `Codes` and `Points` are numpy arrays, `[K]` has one number per world. Amounts
are cpu in milli and everything else in base units; durations are seconds.
"""


def page() -> str:
    """The whole page."""
    lines = (line for module in MODULES for line in _module(module))
    return "\n".join([_HEAD.format(version=API_VERSION), *lines]).rstrip() + "\n"


def _module(module: ModuleType) -> Iterator[str]:
    yield f"## {module.__name__}\n"
    yield f"{(module.__doc__ or '').strip()}\n"
    for entry in entries(module):
        yield from _section(entry)


def _section(entry: Entry) -> Iterator[str]:
    yield f"### {entry.name}\n"
    yield "\n".join(["```python", *_code(entry), "```\n"])
    if entry.about:
        yield f"{entry.about}\n"
    told = [member for member in entry.members if member.about]
    if told:
        yield "| | |\n| --- | --- |"
        yield from (f"| `{member.name}` | {_cell(member.about)} |" for member in told)
        yield ""


def _code(entry: Entry) -> list[str]:
    head, *rest = entry.lines()
    return [f"{head}:" if rest else head, *rest]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
