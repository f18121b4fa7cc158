"""`schedlab compare`."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import msgspec

from schedlab import timing
from schedlab.compare.comparison import Comparison, Party
from schedlab.compare.ledger import Ledger
from schedlab.compare.levels import LEVELS
from schedlab.compare.sides import Side, distinct, install, side
from schedlab.errors import SchedlabError, UsageError

COULD_NOT = 2
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_SELECTING = ("selector", "include_test_regex", "exclude_test_regex", "parallel", "artifacts", "no_color")


@click.command()
@click.option("--a", "a", required=True, metavar="NAME[@VERSION]|FILE", help="The one scheduler.")
@click.option("--b", "b", required=True, metavar="NAME[@VERSION]|FILE", help="The other one.")
@click.option("--a-config", type=_FILE, help="A KubeSchedulerConfiguration for a.")
@click.option("--b-config", type=_FILE, help="A KubeSchedulerConfiguration for b.")
@click.option("--fuzz", "fuzzing", is_flag=True, help="Compare over random states instead of suites.")
@click.option("--decisions", default=500, show_default=True, help="How many, with --fuzz.")
@click.option("--seed", default=1, show_default=True, help="Equal seeds draw equal cases.")
@click.option("--features", default="all", show_default=True, help="What is drawn, as for `schedlab fuzz`.")
@click.option("--shrink-attempts", default=60, show_default=True, help="How hard to look for small examples.")
@click.option(
    "--level",
    "levels",
    multiple=True,
    type=click.Choice(list(LEVELS)),
    help="Compare on this level only (repeatable). By default on all.",
)
@click.option("--json", "report", type=click.Path(path_type=Path), help="Write the comparison here, too.")
@click.option("--selector", metavar="LABELS", help="Run tests whose labels match, as in kubectl -l.")
@click.option("--include-test-regex", metavar="REGEX", help="Run tests whose id (area/name) matches.")
@click.option("--exclude-test-regex", metavar="REGEX", help="Leave out tests whose id matches.")
@click.option("--parallel", type=click.IntRange(min=1), metavar="N", help="Run on N control planes at once.")
@click.option("--artifacts", type=click.Path(path_type=Path), help="Keep the run directory of suites here.")
@click.option("--no-color", is_flag=True, help="No colours.")
@click.argument("suites", nargs=-1, metavar="[SUITE...]")
def compare(a: str, b: str, a_config: Path | None, b_config: Path | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Say what two schedulers decide otherwise: two programs, two versions, or two configurations.

    Over the tests below each SUITE, or with --fuzz over random states. A version that is not there is
    downloaded or built first.

    Exit codes: 0 equal, 1 different, 2 they could not be compared.
    """
    try:
        _checked(options)
        sides = distinct(side("a", a, a_config), side("b", b, b_config))
        found = _compared(*sides, options)
    except SchedlabError as error:
        click.echo(error.render(), err=True)
        sys.exit(COULD_NOT)
    _report(found, options)
    sys.exit(COULD_NOT if found.blind else int(found.different))


def _checked(options: Mapping[str, Any]) -> None:
    if bool(options["suites"]) == options["fuzzing"]:
        raise UsageError("name suites to compare over, or --fuzz", hint="schedlab compare --help")


def _compared(a: Side, b: Side, options: Mapping[str, Any]) -> Comparison:
    from schedlab.cluster.progress import reporter  # noqa: PLC0415 - keeps --help fast

    for one in (a, b):
        install(one, reporter())
    started = timing.monotonic()
    ledger = Ledger(tuple(options["levels"]) or tuple(LEVELS))
    found = (_over_states if options["fuzzing"] else _over_suites)(a, b, ledger, options)
    found.levels = ledger.coverage
    found.compared, found.discarded = ledger.decisions, dict(ledger.discarded)
    found.seconds = round(timing.monotonic() - started, 1)
    found.command = shlex.join(["schedlab", *sys.argv[1:]])
    return found


def _over_states(a: Side, b: Side, ledger: Ledger, options: Mapping[str, Any]) -> Comparison:
    from schedlab.compare.fuzzed import Fuzzed, Settings  # noqa: PLC0415 - keeps --help fast
    from schedlab.compare.witnesses import bench  # noqa: PLC0415 - as above
    from schedlab.fuzz.features import chosen  # noqa: PLC0415 - as above

    settings = Settings(
        decisions=options["decisions"],
        seed=options["seed"],
        features=chosen(options["features"]),
        shrink_attempts=options["shrink_attempts"],
    )

    async def run() -> Comparison:
        async with bench(a, b) as seats:
            groups = await Fuzzed(seats, settings, ledger, _progress()).run()
            how = zip((a, b), seats.seen_by, strict=True)
            of_a, of_b = (Party(one.configured.name, one.config, seen_by) for one, seen_by in how)
            return Comparison(of_a, of_b, mode="fuzz", causes=[group.to_cause() for group in groups])

    return asyncio.run(run())


def _over_suites(a: Side, b: Side, ledger: Ledger, options: Mapping[str, Any]) -> Comparison:
    from schedlab.compare import suites  # noqa: PLC0415 - keeps --help fast

    ledger.levels = tuple(level for level in ledger.levels if level in suites.LEVELS)
    chosen = {name: options[name] for name in _SELECTING}
    with TemporaryDirectory(prefix="schedlab-compare-") as scratch:
        directory = suites.run(a, b, options["suites"], chosen, Path(scratch))
        ties = suites.compare(directory, ledger)
    of_a, of_b = (Party(one.configured.name, one.config, "the API") for one in (a, b))
    causes = [group.to_cause() for group in ledger.groups()]
    return Comparison(of_a, of_b, mode="suites", causes=causes, ties=ties)


def _progress() -> Callable[[Ledger], None]:
    """Rewrites one line on a terminal; elsewhere prints a line now and then."""
    terminal = sys.stderr.isatty()
    printed = 0

    def show(ledger: Ledger) -> None:
        nonlocal printed
        line = f"{ledger.decisions} decisions, {len(ledger.differences)} differences"
        if terminal:
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
        elif ledger.decisions - printed >= 200:
            printed = ledger.decisions
            click.echo(line, err=True)

    return show


def _report(found: Comparison, options: Mapping[str, Any]) -> None:
    from rich.console import Console  # noqa: PLC0415 - keeps --help fast

    from schedlab.compare.table import show  # noqa: PLC0415 - as above

    if options["report"] is not None:
        options["report"].parent.mkdir(parents=True, exist_ok=True)
        options["report"].write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    width = None if sys.stdout.isatty() else 160
    show(found, Console(no_color=options["no_color"], width=width))
