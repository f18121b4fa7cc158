"""One run as a whole: shows progress, gathers results, writes the report, settles the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec
import pytest

from schedlab import timing
from schedlab.api.objects import Json
from schedlab.report import document, table
from schedlab.report.repeats import summary
from schedlab.runner.artifacts import point_latest, run_directory, tell_worker
from schedlab.runner.github import over_budget
from schedlab.runner.result import Result

if TYPE_CHECKING:
    from schedlab.report.terminal import Terminal

ENVIRONMENT = 10
FLAKY = 11


class _Node(Protocol):
    """What pytest-xdist says of a worker that is about to start."""

    workerinput: dict[str, object]


class Reporter:
    """A plugin of the process that reports; under pytest-xdist that is not one of the workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._results: list[Result] = []
        self._terminal: Terminal | None = None
        self._started = timing.monotonic()
        self._broken_files = 0

    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Show progress from here on."""
        option = self._config.option
        if option.schedlab_terminal and not option.collectonly and (session.items or option.dist != "no"):
            from rich.console import Console  # noqa: PLC0415 - keeps plain pytest runs fast

            from schedlab.report.terminal import Terminal  # noqa: PLC0415 - as above

            self._terminal = Terminal(Console(), run_directory(self._config))
            self._terminal.start(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: _Node) -> None:
        """Tell a worker where the files of this run go."""
        tell_worker(self._config, node.workerinput)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Learn from a worker how many tests there are."""
        if self._terminal is not None:
            self._terminal.total = len(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count files that cannot be used."""
        if report.failed and report.nodeid.endswith("test.yaml"):
            self._broken_files += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a result in."""
        data = getattr(report, "schedlab", None)
        if data is None:
            return
        result = msgspec.convert(data, Result)
        self._results.append(result)
        if self._terminal is not None:
            self._terminal.finished(result)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Json) -> tuple[str, str, str] | None:
        """Count verdicts by their names; no dots beside the own terminal."""
        data = getattr(report, "schedlab", None)
        if data is None:
            return ("", "", "") if self._terminal is not None and report.passed else None
        category = {"pass": "passed", "fail": "failed"}.get(data["verdict"], data["verdict"])
        if self._terminal is not None:
            return (category if category != "inconclusive" else "failed", "", "")
        return (
            category if category != "inconclusive" else "failed",
            data["verdict"][0],
            data["verdict"].upper(),
        )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report and settle the exit code."""
        if self._terminal is not None:
            self._terminal.stop()
        if self._broken_files:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if not self._results:
            return
        mode: Literal["sensitivity", "test"] = "sensitivity" if self._config.option.sensitivity else "test"
        seconds = timing.monotonic() - self._started
        directory = run_directory(self._config)
        report = document.document(self._results, mode=mode, seconds=seconds)
        document.write(report, directory)
        point_latest(directory)
        self._draw(report, directory)
        session.exitstatus = self._exit_code(session.exitstatus)

    def _draw(self, report: document.Report, directory: Path) -> None:
        """Write the page."""
        from schedlab.report import page, telling  # noqa: PLC0415 - keeps plain pytest runs fast

        say = self._terminal.say if self._terminal is not None else lambda _text: None
        page.write(report, telling.teller(len(report.results), say), directory / page.FILE)

    def _exit_code(self, code: int | pytest.ExitCode) -> int | pytest.ExitCode:
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return code
        if any(result.environment for result in self._results):
            return ENVIRONMENT
        if code == pytest.ExitCode.TESTS_FAILED or table.differences(table.matrix(self._results)):
            return pytest.ExitCode.TESTS_FAILED
        if self._config.option.strict_flaky and any(result.verdict == "flaky" for result in self._results):
            return FLAKY
        return code

    def pytest_terminal_summary(self, terminalreporter: Json) -> None:
        """The table, after the failures."""
        if not self._results:
            return
        rows = table.matrix(self._results)
        terminalreporter.section("sensitivity" if self._config.option.sensitivity else "verdicts", sep="-")
        colours = {"pass": {"green": True}, "fail": {"red": True}, "flaky": {"yellow": True}}
        for line, verdict in table.lines(rows):
            terminalreporter.write_line(line, **colours.get(verdict, {}))
        if (repeats := self._config.option.repeat) > 1:
            for line in summary(self._results, repeats):
                terminalreporter.write_line(line)
        differing = table.differences(rows)
        if differing:
            terminalreporter.write_line(
                f"the schedulers differ in {len(differing)} tests: {', '.join(differing)}", red=True
            )
        for result in self._results:
            if result.over_budget:
                terminalreporter.write_line(f"over budget: {result.title} {over_budget(result)}", yellow=True)
        terminalreporter.write_line(f"artefacts: {run_directory(self._config)}, report.html among them")
