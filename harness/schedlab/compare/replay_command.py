"""`schedlab replay`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import click

from schedlab.cluster.progress import reporter
from schedlab.compare import replay as replaying
from schedlab.compare.levels import LEVELS, Divergence, compare
from schedlab.compare.sides import Side, install
from schedlab.compare.witnesses import witness
from schedlab.decisions.corpus import Case, Question, Step
from schedlab.decisions.decision import Decision, Refusal, Unobserved
from schedlab.errors import SchedlabError
from schedlab.fuzz.replant import planned
from schedlab.history.directory import load
from schedlab.report.verdicts import Noted, note
from schedlab.schedulers.declaration import declared

REFERENCE = "kube-scheduler"


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("pod")
@click.option(
    "--scheduler",
    "schedulers",
    multiple=True,
    default=(REFERENCE, "kubesched"),
    show_default=True,
    metavar="NAME[@VERSION]|FILE",
    help="Whom to ask (repeatable).",
)
def replay(directory: Path, pod: str, schedulers: Sequence[str]) -> None:
    """Ask schedulers about the moment in which POD waited, in the test whose files are in DIRECTORY.

    They get the configuration of the test. The answers are printed, and added to the test's files for the
    report. Exits 0 if all schedulers agree, 1 if not, 2 if they could not be asked.
    """
    try:
        question = replaying.question(load(directory), pod)
        config = replaying.configured(directory)
        answers = {name: asyncio.run(_answer(name, config, question)) for name in dict.fromkeys(schedulers)}
    except SchedlabError as error:
        click.echo(error.render(), err=True)
        sys.exit(2)
    nodes = [obj["metadata"]["name"] for obj in question.objects if obj["kind"] == "Node"]
    for name, decision in answers.items():
        note(directory, Noted(f"{name}, asked again", replaying.answer(decision, nodes)))
        for line in lines(name, decision, nodes):
            click.echo(line)
    found = list(contradictions(answers))
    for line in found:
        click.echo(line)
    sys.exit(bool(found))


async def _answer(name: str, config: dict[str, Any], question: Question) -> Decision:
    """What one scheduler says.

    Raises:
        SchedlabError: it cannot be asked.
    """
    asked = Side("r", declared(name), config)
    install(asked, reporter())
    plan = planned(question.objects, question.pod)
    case = Case(reference="", objects=tuple(question.objects), steps=(Step(question.pod, question.decision),))
    async with AsyncExitStack() as stack:
        someone, _ = await witness(stack, asked)
        (decision,) = await someone.answers(plan, case)
    return decision


def lines(name: str, decision: Decision, nodes: Sequence[str]) -> Iterator[str]:
    """One scheduler's answer for people: the result, then a line per node of which something was seen."""
    message = "" if isinstance(decision.message, Unobserved) else decision.message or ""
    yield f"{name}: {decision.result} {message}".rstrip()
    refusals = {} if isinstance(decision.refusals, Unobserved) else decision.refusals
    for node in nodes:
        if isinstance(decision.feasible, Unobserved):
            continue
        if node not in decision.feasible:
            refusal = refusals.get(node, Refusal("", ()))
            yield f"  {node}  refused  {refusal.plugin} {', '.join(refusal.reasons)}".rstrip()
            continue
        total = "" if isinstance(decision.totals, Unobserved) else decision.totals.get(node, "")
        scores = {} if isinstance(decision.scores, Unobserved) else decision.scores.get(node, {})
        each = " ".join(f"{plugin}={score}" for plugin, score in sorted(scores.items()))
        yield f"  {node}  {total}  {each}".rstrip()


def contradictions(answers: dict[str, Decision]) -> Iterator[str]:
    """Where others contradict the first scheduler."""
    (first, expected), *others = answers.items()
    for name, decision in others:
        for found in compare(expected, decision, LEVELS).values():
            if isinstance(found, Divergence):
                at = " ".join(filter(None, (found.plugin, found.node)))
                yield f"{found.level} ({at or 'no plugin shown'}): {first} {found.a!r}, {name} {found.b!r}"
