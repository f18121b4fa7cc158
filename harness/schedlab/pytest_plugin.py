"""pytest runs schedlab's suites: this plugin collects `test.yaml` files, one item per test and scheduler.

So selection (`-k`, `-x`, `--lf`), parallel runs (`-n`) and JUnit are pytest's own. `schedlab test` is pytest
with this plugin and a quieter terminal. Nothing heavy is imported until a test of this kind is collected, as
the plugin is loaded in every pytest run of an environment that has schedlab.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILE_NAME = "test.yaml"
_MARK = b"schedlab/v1alpha1"
_ITEMS = "schedlab-items"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a run; `schedlab test --help` explains them."""
    group = parser.getgroup("schedlab", "schedlab: suites for Kubernetes schedulers")
    group.addoption(
        "--scheduler",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="scheduler under test: built-in name or .yaml declaration; repeatable (default: kube-scheduler)",
    )
    group.addoption("--selector", default="", help="run tests whose labels match, as in kubectl -l")
    group.addoption("--include-test-regex", default="", help="run tests whose id matches")
    group.addoption("--exclude-test-regex", default="", help="leave out tests whose id matches")
    group.addoption(
        "--sensitivity", action="store_true", help="break each test by its plugin or mutation; it must fail"
    )
    group.addoption(
        "--flake-attempts", type=int, default=1, metavar="N", help="run a failed test up to N times"
    )
    group.addoption(
        "--repeat", type=int, default=1, metavar="N", help="run every test N times, to find flakes"
    )
    group.addoption("--shard", default="", metavar="I/N", help="run the I-th of N parts of the tests")
    group.addoption(
        "--durations-from",
        default="",
        metavar="REPORT",
        help="deal shards out by what tests took in this run",
    )
    group.addoption("--budget", default="", metavar="TIME", help="report tests that take longer, such as 10s")
    group.addoption("--allow-scripts", action="store_true", help="let tests run programs of their own")
    group.addoption("--github", action="store_true", help="annotations and a job summary for GitHub Actions")
    group.addoption("--strict-flaky", action="store_true", help="exit with 11 if all that failed was flaky")
    group.addoption(
        "--artifacts", default="", help="where run directories go (default: $ARTIFACTS or ./artifacts)"
    )
    group.addoption(
        "--schedlab-terminal", action="store_true", help="used by `schedlab test`: its own progress"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Fix the run directory before workers start; gather results in the process that reports."""
    from schedlab.runner.artifacts import settle  # noqa: PLC0415 - keeps plain pytest runs fast

    settle(config)
    if config.option.scheduler:
        from schedlab.runner.items import schedulers  # noqa: PLC0415 - as above

        schedulers(config)  # a wrong name is one error, not one for each test
    if not hasattr(config, "workerinput"):
        from schedlab.runner.reporter import Reporter  # noqa: PLC0415 - as above

        config.pluginmanager.register(Reporter(config), "schedlab-reporter")
        _tell_github(config)


def _tell_github(config: pytest.Config) -> None:
    """Have GitHub told, where that is wanted."""
    from schedlab.runner import github  # noqa: PLC0415 - keeps plain pytest runs fast

    if github.wanted(asked=config.option.github, environment=os.environ):
        config.pluginmanager.register(github.GitHub(), "schedlab-github")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take `test.yaml` files that are of schedlab's format."""
    if file_path.name != FILE_NAME or _MARK not in file_path.read_bytes()[:65536]:
        return None
    from schedlab.runner import items  # noqa: PLC0415 - keeps plain pytest runs fast

    if not parent.config.pluginmanager.has_plugin(_ITEMS):
        parent.config.pluginmanager.register(items, _ITEMS)
    return items.SuiteFile.from_parent(parent, path=file_path)
