"""docs/coverage.md: each documented statement, the tests that prove it, and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from schedlab.coverage.statements import Seed, Statement
from schedlab.report import document
from schedlab.runner.result import Verdict

Verdicts = Mapping[str, Mapping[str, Verdict]]
"""By scheduler, then by test."""

HEAD = """\
<!-- Made by `schedlab coverage RUN…` from suites/statements. -->
# What is documented, and what proves it

One line for each testable statement of the documents that this project was asked to implement, in our own
words. *1.36* tells where Kubernetes is no longer as the document says. Tests that are links belong to suites
and run on both schedulers; the others are unit tests, which prove it for kubesched alone. The verdict is that
of all suite tests of its line together.
"""
_NOT_RUN = "not run"
_BAD = ("fail", "inconclusive", "flaky")


def verdicts(runs: Sequence[Path]) -> dict[str, dict[str, Verdict]]:
    """The verdicts in run directories of `schedlab test`; a later one counts where several have a test.

    A test with scenarios has the worst of their verdicts.

    Raises:
        UsageError: one of them is no run directory.
    """
    found: dict[str, dict[str, Verdict]] = {}
    for run in runs:
        of_run: dict[tuple[str, str], list[Verdict]] = {}
        for result in document.read(run).results:
            if not result.mutation:
                test = result.test.partition(".")[0]
                of_run.setdefault((result.scheduler, test), []).append(result.verdict)
        for (scheduler, test), seen in of_run.items():
            worst = min(seen, key=lambda one: _BAD.index(one) if one in _BAD else len(_BAD))
            found.setdefault(scheduler, {})[test] = worst
    return found


def markdown(seeds: Sequence[Seed], known: Verdicts) -> str:
    """The whole page."""
    parts = [HEAD, *_summary(seeds, known)]
    for seed in seeds:
        parts += ["", f"## {seed.seed} {seed.title}", "", f"Source: {seed.source}.", ""]
        parts += [_line("", "statement", "proved by", *known), _line(*["---"] * (3 + len(known)))]
        parts += [_row(statement, known) for statement in seed.statements]
    return "\n".join(parts) + "\n"


def _summary(seeds: Sequence[Seed], known: Verdicts) -> Iterator[str]:
    """How many statements each document has, and how they stand."""
    yield _line("document", "statements", "by suite tests", "by unit tests alone", "by none", *known)
    yield _line(*["---"] * (5 + len(known)))
    for seed in seeds:
        suites = [one for one in seed.statements if one.tests]
        units = [one for one in seed.statements if one.unit and not one.tests]
        counts = (
            len(seed.statements),
            len(suites),
            len(units),
            len(seed.statements) - len(suites) - len(units),
        )
        passed = [sum(verdict(one, known[name]) == "pass" for one in suites) for name in known]
        shown = [f"{number} of {len(suites)} pass" for number in passed]
        yield _line(f"{seed.seed} {seed.title}", *map(str, counts), *shown)


def verdict(statement: Statement, of: Mapping[str, Verdict]) -> str:
    """The verdict of a statement's suite tests together: the worst, or how many were run."""
    if not statement.tests:
        return ""
    seen = [of[test] for test in statement.tests if test in of]
    for bad in _BAD:
        if bad in seen:
            return f"**{bad}**"
    if len(seen) == len(statement.tests):
        return "pass"
    return f"pass, {len(statement.tests) - len(seen)} {_NOT_RUN}" if seen else _NOT_RUN


def _row(statement: Statement, known: Verdicts) -> str:
    says = statement.says + (f" *1.36: {statement.now}*" if statement.now else "")
    proofs = [f"[{test}](../suites/{test}/test.yaml)" for test in statement.tests]
    proofs += [f"`{_short(name)}`" for name in statement.unit]
    shown = [verdict(statement, of) for of in known.values()]
    return _line(statement.id, says, ", ".join(proofs) or "**no test**", *shown)


def _short(name: str) -> str:
    """A unit test without the directories that lead to it."""
    file, colons, function = name.partition("::")
    return f"{Path(file).stem}{colons}{function}"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
