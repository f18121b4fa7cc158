"""`schedlab leaders`: what recorded runs show about leader election."""

from __future__ import annotations

import statistics
from collections import defaultdict
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table

from schedlab.errors import UsageError
from schedlab.history.directory import MANIFEST, load
from schedlab.report.handovers import Handovers, handovers


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--lease", default="kube-system/kube-scheduler", show_default=True, help="namespace/name")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
def leaders(runs: tuple[Path, ...], lease: str, output: str) -> None:
    """Say how leadership changed hands in recorded runs.

    RUNS are directories below which `schedlab test` has left records. Of several runs of one test the
    median is shown, with the longest in brackets. Exits 1 if a pod was bound by a replica that did not
    lead, or twice.
    """
    namespace, _, name = lease.partition("/")
    if not name:
        raise UsageError(f"{lease!r} is not namespace/name")
    found: dict[tuple[str, str], list[Handovers]] = defaultdict(list)
    for path in sorted(manifest.parent for run in runs for manifest in run.rglob(MANIFEST)):
        about = msgspec.json.decode((path / MANIFEST).read_bytes(), type=dict[str, object])
        story = handovers(load(path), namespace, name)
        if story.changes or story.late:
            found[str(about["test"]), str(about["scheduler"])].append(story)
    if not found:
        raise UsageError("no record shows a change of leader", hint="run suites/leaderelection first")
    if output == "json":
        rows = [{"test": t, "scheduler": s, "runs": stories} for (t, s), stories in sorted(found.items())]
        click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
    else:
        Console(width=None if Console().is_terminal else 200).print(_table(found))
    if any(story.late or story.bound_twice for stories in found.values() for story in stories):
        raise SystemExit(1)


def _table(found: dict[tuple[str, str], list[Handovers]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("test", "scheduler", "the old leader's end"):
        table.add_column(column)
    for column in ("changes", "without a leader, s", "to first binding, s", "bound late", "bound twice"):
        table.add_column(column, justify="right")
    for (test, scheduler), stories in sorted(found.items()):
        changes = [change for story in stories for change in story.changes]
        table.add_row(
            test,
            scheduler,
            ", ".join(sorted({change.how for change in changes})),
            str(len(changes)),
            _spread([change.without_leader for change in changes]),
            _spread([c.to_first_binding for c in changes if c.to_first_binding is not None]),
            str(sum(story.late for story in stories)),
            str(sum(story.bound_twice for story in stories)),
        )
    return table


def _spread(seconds: list[float]) -> str:
    """The median and, in brackets, the longest."""
    return f"{statistics.median(seconds):.2f} ({max(seconds):.2f})" if seconds else "-"
