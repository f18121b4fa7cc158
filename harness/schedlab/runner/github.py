"""What GitHub Actions shows of a run: an annotation where each failed test failed, and a summary of the job.

On whenever GITHUB_ACTIONS is true, or with `--github`. Annotations are lines that the runner of the job reads
from the output; the summary is Markdown in the file that GITHUB_STEP_SUMMARY names.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

from schedlab.api.objects import Json
from schedlab.runner.result import Result

_LEVELS = {"fail": "error", "inconclusive": "error", "flaky": "warning"}
_MARKS = {
    "pass": ":white_check_mark:",
    "fail": ":x:",
    "flaky": ":warning:",
    "inconclusive": ":grey_question:",
}
_MOST = 200


def wanted(*, asked: bool, environment: Mapping[str, str]) -> bool:
    """True on GitHub, or if it is asked for."""
    return asked or environment.get("GITHUB_ACTIONS") == "true"


class GitHub:
    """Gathers results in the process that reports, and tells GitHub at the end."""

    def __init__(self) -> None:
        self._results: list[Result] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a result in."""
        data = getattr(report, "schedlab", None)
        if data is not None:
            self._results.append(msgspec.convert(data, Result))

    def pytest_terminal_summary(self, terminalreporter: Json) -> None:
        """Print the annotations, write the summary."""
        workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
        for line in annotated(self._results, workspace):
            terminalreporter.write_line(line)
        file = os.environ.get("GITHUB_STEP_SUMMARY")
        if file and self._results:
            with Path(file).open("a", encoding="utf-8") as out:
                out.write(summary(self._results))


def annotated(results: Sequence[Result], workspace: Path) -> Iterator[str]:
    """One line for each test that did not simply pass, and for each that took too long."""
    for result in results:
        if level := _LEVELS.get(result.verdict):
            yield _annotation(level, result, result.reason or result.verdict, workspace)
        if result.over_budget:
            yield _annotation("warning", result, over_budget(result), workspace)


def over_budget(result: Result) -> str:
    """How much too long a test took."""
    return f"took {result.seconds:.1f}s, its budget is {result.budget:g}s"


def summary(results: Sequence[Result]) -> str:
    """Markdown: how many of each verdict, and a row for each result that is not a pass."""
    counts = Counter(result.verdict for result in results)
    total = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    lines = ["## schedlab", "", f"{len(results)} runs: {total}", ""]
    told = [result for result in results if result.verdict != "pass" or result.over_budget]
    if told:
        lines += ["| | test | scheduler | |", "| --- | --- | --- | --- |"]
    for result in told[:_MOST]:
        what = result.reason if result.verdict != "pass" else over_budget(result)
        cells = (result.test, " ".join(filter(None, (result.scheduler, result.mutation))), what)
        lines.append(f"| {_MARKS[result.verdict]} | {' | '.join(map(_cell, cells))} |")
    if len(told) > _MOST:
        lines += ["", f"and {len(told) - _MOST} more"]
    return "\n".join(lines) + "\n\n"


def _annotation(level: str, result: Result, message: str, workspace: Path) -> str:
    file, line, column = _place(result)
    path = Path.cwd() / file
    shown = str(path.relative_to(workspace)) if path.is_relative_to(workspace) else str(path)
    fields = {"file": shown, "line": line, "col": column, "title": result.title}
    properties = ",".join(f"{key}={_property(value)}" for key, value in fields.items())
    return f"::{level} {properties}::{_data(message)}"


def _place(result: Result) -> tuple[str, str, str]:
    """Where it failed; the beginning of the test's file if no operation did."""
    if result.failure is not None and result.failure.position.count(":") >= 2:
        file, line, column = result.failure.position.rsplit(":", 2)
        return file, line, column
    return result.path, "1", "1"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cell(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return escaped.replace("\r", "").replace("\n", "<br>")
