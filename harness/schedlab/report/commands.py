"""`schedlab leaders`: what recorded runs show about leader election."""

from __future__ import annotations

import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table

from schedlab.errors import UsageError
from schedlab.history.directory import MANIFEST, load
from schedlab.report.handovers import Bounds, Handovers, handovers

_WORDS = ("test", "the old leader's end", "scheduler")
_NUMBERS = ("changes", "without a leader, s", "bound, s", "over", "to first binding, s", "late", "twice")


class Recorded(msgspec.Struct, frozen=True):
    """One recorded run: the bounds that its settings give, and what happened."""

    bounds: Bounds
    story: Handovers


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--lease", default="kube-system/kube-scheduler", show_default=True, help="namespace/name")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "markdown", "json"]),
    default="table",
    show_default=True,
)
def leaders(runs: tuple[Path, ...], lease: str, output: str) -> None:
    """Say how leadership changed hands in recorded runs.

    RUNS are directories below which `schedlab test` has left records. Of several changes of one kind the
    median is shown, with the longest in brackets, beside the bound that follows from the settings and the
    number of changes that took more than a second longer. Exits 1 if a pod was bound by a replica that did
    not lead, or twice.
    """
    namespace, _, name = lease.partition("/")
    if not name:
        raise UsageError(f"{lease!r} is not namespace/name")
    found: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
    for path in sorted(manifest.parent for run in runs for manifest in run.rglob(MANIFEST)):
        about = msgspec.json.decode((path / MANIFEST).read_bytes(), type=dict[str, Any])
        story = handovers(load(path), namespace, name)
        if story.changes or story.late:
            recorded = Recorded(Bounds.of(about.get("config") or {}), story)
            found[about["test"], about["scheduler"]].append(recorded)
    if not found:
        raise UsageError("no record shows a change of leader", hint="run suites/leaderelection first")
    if output == "json":
        rows = [{"test": t, "scheduler": s, "runs": runs} for (t, s), runs in sorted(found.items())]
        click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
    elif output == "markdown":
        click.echo(_markdown(_rows(found)))
    else:
        Console(width=None if Console().is_terminal else 200).print(_table(_rows(found)))
    stories = [recorded.story for runs_of_test in found.values() for recorded in runs_of_test]
    if any(story.late or story.bound_twice for story in stories):
        raise SystemExit(1)


def _rows(found: dict[tuple[str, str], list[Recorded]]) -> list[list[str]]:
    """A row per test, way in which a leader ended, and scheduler."""
    rows = []
    for (test, scheduler), records in found.items():
        late = sum(recorded.story.late for recorded in records)
        twice = sum(recorded.story.bound_twice for recorded in records)
        hows = {change.how for recorded in records for change in recorded.story.changes}
        for how in sorted(hows) or ["-"]:
            changes = [
                (recorded.bounds.after(how), change)
                for recorded in records
                for change in recorded.story.changes
                if change.how == how
            ]
            first = [c.to_first_binding for _, c in changes if c.to_first_binding is not None]
            rows.append(
                [
                    test,
                    how,
                    scheduler,
                    str(len(changes)),
                    _spread([change.without_leader for _, change in changes]),
                    f"{max((bound for bound, _ in changes), default=0):g}",
                    str(sum(change.without_leader > bound + 1 for bound, change in changes)),
                    _spread(first),
                    str(late),
                    str(twice),
                ]
            )
    return sorted(rows)


def _table(rows: list[list[str]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in _WORDS:
        table.add_column(column)
    for column in _NUMBERS:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def _markdown(rows: list[list[str]]) -> str:
    lines = [[*_WORDS, *_NUMBERS], ["---"] * len(_WORDS) + ["---:"] * len(_NUMBERS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _spread(seconds: list[float]) -> str:
    """The median and, in brackets, the longest."""
    return f"{statistics.median(seconds):.2f} ({max(seconds):.2f})" if seconds else "-"
