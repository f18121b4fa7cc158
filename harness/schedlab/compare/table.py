"""A comparison for people: one row per cause, then how much was compared at all."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedlab.compare.comparison import Cause, Comparison
from schedlab.compare.levels import Fact
from schedlab.fuzz.replant import summary

_STYLES = {
    "verdict": "bold red",
    "placement": "red",
    "feasible": "magenta",
    "scores": "yellow",
    "reasons": "cyan",
    "events": "blue",
}
_LONGEST = 200  # characters of a value
_SHORT = 60  # characters of a state


def show(found: Comparison, console: Console) -> None:
    """Print everything."""
    console.print(f"a = {_party(found, 'a')}", highlight=False)
    console.print(f"b = {_party(found, 'b')}", highlight=False)
    if found.causes:
        console.print(causes(found))
    for line in coverage(found):
        console.print(line, highlight=False)


def _party(found: Comparison, letter: str) -> str:
    party = found.a if letter == "a" else found.b
    parts = [party.name, f"seen by {party.seen_by}" if party.seen_by else ""]
    parts.append("with a configuration of its own" if party.config else "")
    return ", ".join(filter(None, parts))


def causes(found: Comparison) -> Table:
    """The causes as a table."""
    table = Table(title_justify="left", show_lines=True, expand=False)
    table.add_column("level", no_wrap=True)
    table.add_column("times", justify="right", no_wrap=True)
    table.add_column("cause", overflow="fold", ratio=3)
    table.add_column("first at", overflow="fold", ratio=1)
    table.add_column("a", overflow="fold", ratio=2)
    table.add_column("b", overflow="fold", ratio=2)
    table.add_column("smallest example", overflow="fold", ratio=1)
    for cause in found.causes:
        table.add_row(
            Text(cause.level, _STYLES.get(cause.level, "")),
            str(cause.count),
            Text(cause.cause),
            Text("\n".join(filter(None, (cause.plugin, cause.node)))),
            Text(_value(cause.a)),
            Text(_value(cause.b)),
            Text(_example(cause)),
        )
    return table


def _value(value: Fact) -> str:
    text = (
        ", ".join(value) or "none" if isinstance(value, list) else "nothing" if value is None else str(value)
    )
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _example(cause: Cause) -> str:
    parts = [cause.where]
    if cause.pod is not None:
        objects = summary(cause.objects)
        parts.append(objects if len(objects) < _SHORT else f"{len(cause.objects)} objects")
    elif len(cause.places) > 1:
        parts.append(f"and {len(cause.places) - 1} more")
    if cause.confirmed is False:
        parts.append("shows only within its case")
    return "\n".join(filter(None, parts))


def coverage(found: Comparison) -> Iterator[str]:
    """How many decisions were compared on each level, and what was not."""
    unit = "decisions" if found.mode == "fuzz" else "pods"
    causes = f"{sum(cause.count for cause in found.causes)} differences of {len(found.causes)} causes"
    yield f"{found.compared} {unit}, {causes}, {found.seconds:.0f} s"
    for level, count in found.levels.items():
        parts = [f"compared {count.compared}", f"different {count.different}"]
        parts += [f"none there {count.absent}"] if count.absent else []
        parts += [f"not shown by one side {count.unobserved}"] if count.unobserved else []
        parts += [f"another stage differs before {count.follows}"] if count.follows else []
        yield f"  {level:<10} {', '.join(parts)}"
    if found.ties:
        yield f"  {found.ties} pods on other nodes, which may be ties and is not counted"
    for reason, times in found.discarded.items():
        yield f"  discarded {times}: {reason}"
    for note in found.notes:
        yield f"  note: {note}"
