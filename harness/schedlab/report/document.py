"""report.json: the whole run as data, for programs, for merging, and for the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from schedlab.errors import UsageError
from schedlab.report.repeats import Flake, flakes
from schedlab.report.table import differences, matrix
from schedlab.runner.result import Result

VERSION = 1
FILE = "report.json"


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """One run, or several that were merged.

    `verdicts` counts results, `differences` names the tests on which the schedulers do not agree, `flakes`
    those whose repeated runs do not. `seconds` is how long it took; of merged runs, the longest. `shards`
    counts the runs that were merged.
    """

    version: int
    mode: Literal["test", "sensitivity"]
    seconds: float
    verdicts: dict[str, int]
    differences: list[str]
    results: tuple[Result, ...]
    flakes: tuple[Flake, ...] = ()
    shards: int = 1


def document(
    results: Sequence[Result], *, mode: Literal["test", "sensitivity"], seconds: float, shards: int = 1
) -> Report:
    """The report about some results."""
    return Report(
        version=VERSION,
        mode=mode,
        seconds=round(seconds, 3),
        verdicts=dict(Counter(result.verdict for result in results)),
        differences=differences(matrix(results)),
        results=tuple(results),
        flakes=tuple(flakes(results)),
        shards=shards,
    )


def write(report: Report, directory: Path) -> Path:
    """Write it into the run directory; returns the file."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / FILE
    file.write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    return file


def read(directory: Path) -> Report:
    """The report of a run directory, each result with the place where its files are now.

    Raises:
        UsageError: there is none, or it is not one that this version reads.
    """
    file = directory / FILE
    try:
        found = msgspec.json.decode(file.read_bytes(), type=Report)
    except FileNotFoundError as error:
        raise UsageError(
            f"{directory} holds no {FILE}", hint="name a directory that `schedlab test` has written"
        ) from error
    except (msgspec.DecodeError, NotADirectoryError) as error:
        raise UsageError(
            f"{file} is no report: {error}", hint="write it anew with `schedlab test`"
        ) from error
    if found.version != VERSION:
        raise UsageError(
            f"{file} is a report of version {found.version}, this schedlab reads {VERSION}",
            hint="read it with the schedlab that wrote it",
        )
    return msgspec.structs.replace(found, results=tuple(_located(one, directory) for one in found.results))


def merged(reports: Sequence[Report]) -> Report:
    """Several runs as one, such as the shards of one suite.

    Raises:
        UsageError: they are of different modes, or two of them hold the same run of a test.
    """
    modes = sorted({report.mode for report in reports})
    if len(modes) > 1:
        raise UsageError(f"runs of different modes: {', '.join(modes)}", hint="merge runs of one mode")
    results = sorted((one for report in reports for one in report.results), key=lambda one: one.title)
    twice = [title for title, count in Counter(one.title for one in results).items() if count > 1]
    if twice:
        raise UsageError(
            f"{len(twice)} results are in more than one of the runs, the first is {twice[0]}",
            hint="merge shards of one run; to run a test several times, use --repeat",
        )
    return document(
        results,
        mode=reports[0].mode,
        seconds=max(report.seconds for report in reports),
        shards=sum(report.shards for report in reports),
    )


def _located(result: Result, directory: Path) -> Result:
    """A result whose files are found even if its run directory was moved, as an artefact of CI is."""
    place = Path(result.artifacts)
    if not result.artifacts or place.exists():
        return result
    moved = directory.absolute().joinpath(*place.parts[-3:])
    return msgspec.structs.replace(result, artifacts=str(moved)) if moved.exists() else result
