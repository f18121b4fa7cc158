"""`schedlab fuzz` and `schedlab record`."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from schedlab.decisions import corpus
from schedlab.decisions.explain import KUBESCHED, Explain
from schedlab.errors import SchedlabError, UsageError
from schedlab.fuzz.features import FEATURES, chosen
from schedlab.fuzz.live import live
from schedlab.fuzz.oracle import oracle
from schedlab.fuzz.provenance import commit
from schedlab.fuzz.run import EXERCISE, Run, Settings
from schedlab.fuzz.tally import Tally
from schedlab.schedulers.declaration import declared

T = TypeVar("T")
#: Schedulers whose `explain` answers JSON lines.
_EXPLAINERS = {"kubesched": KUBESCHED}
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def _chosen(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    try:
        return chosen(value)
    except UsageError as error:
        raise click.BadParameter(error.render()) from error


_seed = click.option("--seed", default=1, show_default=True, help="Equal seeds draw equal cases.")
_config = click.option(
    "--config", type=_FILE, help="A KubeSchedulerConfiguration instead of the default one."
)
_features = click.option(
    "--features",
    default="all",
    show_default=True,
    metavar="LIST",
    callback=_chosen,
    help=f"Comma-separated: all, {', '.join(FEATURES)}; -NAME takes one out.",
)


@click.command()
@click.option("--decisions", default=500, show_default=True, help="How many decisions to compare.")
@_seed
@_features
@_config
@click.option("--scheduler", default="kubesched", show_default=True, help="Whom to compare.")
@click.option("--explain", "command", metavar="COMMAND", help="Its explain command, reading JSON lines.")
@click.option("--live", "running", is_flag=True, help="Also lead the running scheduler through each case.")
@click.option("--sampled", is_flag=True, help="Clusters so large that not every node is looked at.")
@click.option("--findings", default="artifacts/fuzz", show_default=True, type=click.Path(path_type=Path))
@click.option("--max-differences", type=int, metavar="N", help="Stop after so many differences.")
@click.option(
    "--shrink-attempts", default=300, show_default=True, help="How hard to look for a smaller state."
)
def fuzz(
    *,
    decisions: int,
    seed: int,
    features: tuple[str, ...],
    config: Path | None,
    scheduler: str,
    command: str | None,
    running: bool,
    sampled: bool,
    findings: Path,
    max_differences: int | None,
    shrink_attempts: int,
) -> None:
    """Compare a scheduler with kube-scheduler, decision by decision, in random cluster states.

    Every difference is shrunk to a small state and written as a corpus line and a suite test. Exits 1 if
    there are any.
    """
    if sampled and running:
        raise click.UsageError("--live follows decisions exactly; with --sampled there is nothing to follow")
    settings = Settings(
        decisions=decisions,
        seed=seed,
        features=features,
        findings=findings,
        sampled=sampled,
        judge=not sampled,
        exercise=0 if sampled else EXERCISE,
        provenance=f"commit {commit()}, seed {seed}, features {','.join(features)}",
        most_differences=max_differences,
        shrink_attempts=shrink_attempts,
    )
    argv = shlex.split(command) if command else _explainer(scheduler)
    tally = _run(_fuzz(settings, argv, config, scheduler if running else ""))
    findings.mkdir(parents=True, exist_ok=True)
    summary = {"provenance": settings.provenance, "scheduler": scheduler, **tally.to_json()}
    (findings / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    _conclude(tally, findings)


async def _fuzz(settings: Settings, argv: Sequence[str], config: Path | None, running: str) -> Tally:
    async with AsyncExitStack() as stack:
        asked = (*argv, "--config", str(config)) if config else argv
        explain = await stack.enter_async_context(Explain(asked))
        recorder = await stack.enter_async_context(
            oracle(config=read_config(config), sampled=settings.sampled)
        )
        led = live(declared(running), read_config(config)) if running else None
        follower = await stack.enter_async_context(led) if led else None
        return await Run(settings, recorder, explain, live=follower, report=_progress()).run()


@click.command()
@click.option("--decisions", default=500, show_default=True, help="How many decisions to record.")
@_seed
@_features
@_config
@click.option("--untapped", is_flag=True, help="Without the extender: no feasible sets, no candidates.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The corpus file (.jsonl[.gz]).")
def record(
    *, decisions: int, seed: int, features: tuple[str, ...], config: Path | None, untapped: bool, out: Path
) -> None:
    """Record decisions of kube-scheduler in random cluster states, for replay without a cluster."""
    settings = Settings(
        decisions=decisions,
        seed=seed,
        features=features,
        findings=out.parent / "findings",
        provenance=f"commit {commit()}, seed {seed}",
    )
    tally, cases = _run(_record(settings, config, tapped=not untapped))
    click.echo(f"{corpus.write(out, cases)} cases written to {out}")
    _conclude(tally, settings.findings)


async def _record(
    settings: Settings, config: Path | None, *, tapped: bool
) -> tuple[Tally, list[corpus.Case]]:
    async with oracle("record", config=read_config(config), tapped=tapped) as recorder:
        run = Run(settings, recorder, None, report=_progress(), keep_cases=True)
        return await run.run(), run.cases


def read_config(config: Path | None) -> dict[str, Any]:
    """The KubeSchedulerConfiguration of a file; nothing for no file.

    Raises:
        UsageError: it is none.
    """
    if config is None:
        return {}
    try:
        read = yaml.safe_load(config.read_text())
    except yaml.YAMLError as error:
        raise UsageError(f"{config}: cannot be read as YAML: {error}") from error
    if not isinstance(read, dict) or read.get("kind") != "KubeSchedulerConfiguration":
        raise UsageError(f"{config} is no KubeSchedulerConfiguration", hint="see kube-scheduler's --config")
    return read


def _explainer(scheduler: str) -> tuple[str, ...]:
    if scheduler not in _EXPLAINERS:
        raise click.UsageError(
            f"{scheduler} has no explain command that schedlab knows; give it with --explain"
        )
    return _EXPLAINERS[scheduler]


def _progress() -> Callable[[Tally], None]:
    """Rewrites one line on a terminal; elsewhere prints a line now and then."""
    terminal = sys.stderr.isatty()
    printed = 0

    def show(tally: Tally) -> None:
        nonlocal printed
        if terminal:
            click.echo(f"\r\x1b[K{tally.line()}", nl=False, err=True)
        elif tally.decisions - printed >= 200:
            printed = tally.decisions
            click.echo(tally.line(), err=True)

    return show


def _conclude(tally: Tally, findings: Path) -> None:
    click.echo(("\n" if sys.stderr.isatty() else "") + tally.line())
    for line in tally.table():
        click.echo(line)
    for reason, count in tally.discarded.most_common():
        click.echo(f"  discarded {count}: {reason}")
    for signature, count in tally.differences.most_common():
        click.echo(f"  {count} x {signature}")
    if tally.failed:
        click.echo(f"shrunk states are in {findings}")
        sys.exit(1)


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(work)
    except SchedlabError as error:
        click.echo(error.render(), err=True)
        sys.exit(error.exit_code)
