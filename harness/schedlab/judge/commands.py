"""`schedlab judge`: recorded runs, judged once more by what holds for every scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from schedlab.errors import UsageError
from schedlab.history.directory import MANIFEST, load
from schedlab.judge.account import Account
from schedlab.judge.invariants import INVARIANTS, Verdict
from schedlab.judge.invariants import judge as judged


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def judge(runs: tuple[Path, ...], output: str) -> None:
    """Judge recorded runs by the invariants.

    RUNS are directories below which `schedlab test` has left records. Nothing is asked of a cluster. Exits 1
    if an invariant did not hold.
    """
    found: list[tuple[dict[str, Any], Verdict]] = []
    for path in sorted(manifest.parent for run in runs for manifest in run.rglob(MANIFEST)):
        about = msgspec.json.decode((path / MANIFEST).read_bytes(), type=dict[str, Any])
        found.append((about, judged(Account.of(load(path), about.get("config") or {}))))
    if not found:
        raise UsageError("there is no record", hint=f"name a directory below which is a {MANIFEST}")
    if output == "json":
        rows = [{"test": a.get("test"), "scheduler": a.get("scheduler"), "verdict": v} for a, v in found]
        click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
    else:
        _print(found)
    if any(verdict.findings for _, verdict in found):
        raise SystemExit(1)


def _print(found: list[tuple[dict[str, Any], Verdict]]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for about, verdict in found:
        for finding in verdict.findings:
            name = INVARIANTS[finding.invariant].__name__.replace("_", " ")
            where = f" (resourceVersion {finding.version})" if finding.version else ""
            console.print(f"{about.get('test')} [{about.get('scheduler')}]", markup=False)
            console.print(f"  {finding.invariant} {name}: {finding.text}{where}", markup=False)
    bindings = sum(verdict.bindings for _, verdict in found)
    evictions = sum(verdict.evictions for _, verdict in found)
    wrong = sum(len(verdict.findings) for _, verdict in found)
    console.print(
        f"{len(found)} records, {bindings} bindings and {evictions} evictions by schedulers: {wrong} findings"
    )
