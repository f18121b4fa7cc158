"""The commands about tests: `test`, `lint`, `schema`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

SCHEMAS = ("test", "steptemplate", "scheduler", "report", "compare")


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]},
    epilog="All other options are pytest's: -k EXPR, -x, --lf, -n N, --junitxml FILE, --collect-only, …",
)
@click.option(
    "--scheduler",
    multiple=True,
    metavar="NAME|FILE",
    help="Scheduler under test; may be repeated. [kube-scheduler]",
)
@click.option("--selector", metavar="LABELS", help="Run tests whose labels match, as in kubectl -l.")
@click.option("--include-test-regex", metavar="REGEX", help="Run tests whose id (area/name) matches.")
@click.option("--exclude-test-regex", metavar="REGEX", help="Leave out tests whose id matches.")
@click.option("--parallel", type=click.IntRange(min=1), metavar="N", help="Run on N control planes at once.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first test that does not pass.")
@click.option(
    "--flake-attempts", type=click.IntRange(min=1), metavar="N", help="Run a failed test up to N times."
)
@click.option(
    "--repeat", type=click.IntRange(min=1), metavar="N", help="Run every test N times, to find flakes."
)
@click.option("--shard", metavar="I/N", help="Run the I-th of N parts; together they run every test once.")
@click.option(
    "--durations-from",
    type=click.Path(exists=True, path_type=Path),
    metavar="REPORT",
    help="Deal shards out by what the tests took in this run (its report.json or directory).",
)
@click.option("--budget", metavar="TIME", help="Report tests that take longer than this, such as 10s.")
@click.option("--allow-scripts", is_flag=True, help="Let tests run programs of their own.")
@click.option("--github", is_flag=True, help="Annotations and a summary for GitHub Actions. [on there]")
@click.option("--strict-flaky", is_flag=True, help="Exit with 11 if all that failed was flaky.")
@click.option(
    "--sensitivity", is_flag=True, help="Break each test by its plugin or mutation, and expect it to fail."
)
@click.option(
    "--artifacts",
    type=click.Path(path_type=Path),
    help="Where run directories go. [$ARTIFACTS or ./artifacts]",
)
@click.option("--no-color", is_flag=True, help="No colours.")
@click.argument("paths", nargs=-1, type=click.UNPROCESSED, metavar="PATH...")
def test(paths: tuple[str, ...], **options: object) -> None:
    r"""Run the tests below each PATH on each scheduler.

    \b Exit codes: 0 all passed, 1 some did not or the schedulers differ, 2 interrupted, 4 wrong usage or a
    wrong file, 5 no test found, 10 the environment could not start, 11 flaky tests (with --strict-flaky).
    """
    from schedlab.runner.command import run  # noqa: PLC0415 - pytest is not needed for --help

    sys.exit(run(paths, options))


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def lint(paths: tuple[Path, ...]) -> None:
    """Check the test and scheduler files below each PATH; exit code 4 if any is wrong."""
    from schedlab.suite.lint import check  # noqa: PLC0415 - keeps --help fast

    files, problems = check(paths)
    for problem in problems:
        click.echo(str(problem))
    click.echo(f"{files} files, {len(problems)} problems", err=True)
    if problems:
        sys.exit(4)
    if not files:
        sys.exit(5)


@click.command()
@click.argument("kind", type=click.Choice(SCHEMAS), default="test")
def schema(kind: str) -> None:
    """Print the JSON schema of test files, step templates, scheduler declarations, reports or comparisons."""
    from schedlab.suite.schema import encoded, schema_of  # noqa: PLC0415 - keeps --help fast

    click.echo(encoded(schema_of(kind)), nl=False)
