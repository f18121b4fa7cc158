"""Several runs of one test as one: what holds of all of them, and which did not agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from schedlab.runner.result import Result


class Flake(msgspec.Struct, frozen=True, rename="camel"):
    """A test whose runs on one scheduler do not agree; `others` are the runs that did not pass, by number."""

    test: str
    scheduler: str
    verdicts: dict[str, int]
    others: tuple[int, ...] = ()


def together(results: Iterable[Result]) -> Iterator[Result]:
    """One result per test and scheduler.

    Repeated runs that agree are represented by the first. If they do not, the verdict is flaky, and the
    evidence is that of the first run that failed.
    """
    for runs in _runs(results):
        verdicts = {run.verdict for run in runs}
        worst = next((run for run in runs if run.verdict in ("fail", "inconclusive")), runs[0])
        yield msgspec.structs.replace(worst, verdict="flaky") if len(verdicts) > 1 else runs[0]


def flakes(results: Iterable[Result]) -> Iterator[Flake]:
    """The tests whose repeated runs differ."""
    for runs in _runs(results):
        counts: Counter[str] = Counter(run.verdict for run in runs)
        if len(runs) > 1 and (len(counts) > 1 or "flaky" in counts):
            others = tuple(run.repeat for run in runs if run.verdict != "pass")
            yield Flake(runs[0].test, runs[0].scheduler, dict(counts), others)


def summary(results: Sequence[Result], repeats: int) -> Iterator[str]:
    """What several runs of all tests have shown, in lines."""
    found = list(flakes(results))
    tests, schedulers = (len({getattr(one, field) for one in results}) for field in ("test", "scheduler"))
    outcome = f"{len(found)} flaky" if found else "no flake"
    yield f"tests: {tests}, schedulers: {schedulers}, runs of each: {repeats}: {outcome}"
    for flake in found:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(flake.verdicts.items()))
        runs = ", ".join(f"#{number}" for number in flake.others)
        yield f"  {flake.test} on {flake.scheduler}: {counts} (runs {runs})"


def _runs(results: Iterable[Result]) -> Iterator[list[Result]]:
    """The runs of each test on each scheduler, by number."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        found.setdefault((result.test, result.scheduler), []).append(result)
    for runs in found.values():
        yield sorted(runs, key=lambda run: run.repeat)
