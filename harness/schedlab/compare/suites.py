"""Comparison over suites: both schedulers run the same tests, and what became of each pod is compared.

Runs of one test differ in their times, so only what does not depend on them counts: whether a pod was bound,
the last reason why it was not, what its events said. A pod on another node may be a broken tie, which a
history does not show, so such pods are counted and not called different.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from schedlab.api.objects import Object, Ref, ref_of
from schedlab.compare.ledger import VERDICT, Example, Ledger
from schedlab.compare.levels import Divergence, Silent, Verdict
from schedlab.compare.sides import Side
from schedlab.compare.texts import contrast, phrases
from schedlab.errors import SchedlabError
from schedlab.history.directory import load
from schedlab.history.history import History
from schedlab.report import document
from schedlab.report.table import matrix
from schedlab.runner import command
from schedlab.runner.result import Result
from schedlab.schedulers.declaration import SchedulerSpec

#: What suites can be compared on, beside the tests' verdicts.
LEVELS = ("placement", "reasons", "events")
_ASSIGNED = re.compile(r"^Successfully assigned .* to \S+$")
_UNDONE = re.compile(r"^skip schedule deleting pod: ")
"""What a scheduler says if the test's end overtakes it."""
_RAN = (0, 1, 11)
"""Exit codes of a run that has results."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one pod: its node if it was ever bound, why it was not, and its events."""

    node: str = ""
    message: str = ""
    events: tuple[str, ...] = ()


def run(a: Side, b: Side, paths: Sequence[str], options: Mapping[str, object], scratch: Path) -> Path:
    """Run the suites on both; returns the run directory.

    Raises:
        SchedlabError: there was nothing to run, or nothing to run on.
    """
    names = tuple(_declare(side, scratch) for side in (a, b))
    artifacts = Path(str(options.get("artifacts") or scratch / "artifacts"))
    code = command.run(paths, {**options, "scheduler": names, "artifacts": artifacts})
    if code not in _RAN:
        raise SchedlabError(f"the suites did not run: exit code {code}", hint="try `schedlab test` with them")
    return (artifacts / "latest").resolve()


def _declare(side: Side, scratch: Path) -> str:
    """A file that declares the scheduler as it is compared."""
    spec = side.configured
    raw = {
        "apiVersion": "schedlab/v1alpha1",
        "kind": "Scheduler",
        "metadata": {"name": re.sub(r"[^a-z0-9-]+", "-", spec.name)},
        "spec": msgspec.to_builtins(_absolute(spec)),
    }
    raw["spec"] = {key: value for key, value in raw["spec"].items() if value not in (None, "", [], {})}
    file = scratch / f"{side.letter}.yaml"
    file.write_text(json.dumps(raw, indent=1))
    return str(file)


def _absolute(scheduler: SchedulerSpec) -> msgspec.Struct:
    """Its declaration, valid in any directory."""
    program, *rest = scheduler.spec.command
    if "/" in program and not program.startswith("{"):
        program = str(scheduler.directory / program)
    return msgspec.structs.replace(scheduler.spec, command=[program, *rest])


def compare(directory: Path, ledger: Ledger) -> int:
    """Take in the results of a run directory; returns how many pods were on other nodes.

    Raises:
        UsageError: it is none.
    """
    ties = 0
    for test, row in matrix(document.read(directory).results).items():
        if len(row) != 2:
            continue
        a, b = row.values()
        example = Example(test)
        ledger.note(VERDICT, _verdicts(a, b), example)
        if "inconclusive" in (a.verdict, b.verdict):
            continue
        for one, other in _pairs(a, b):
            ledger.add(outcomes(one, other), example)
            ties += bool(one.node and other.node and one.node != other.node)
    return ties


def _verdicts(a: Result, b: Result) -> Verdict:
    if "inconclusive" in (a.verdict, b.verdict):
        return Silent.UNOBSERVED
    if a.verdict == b.verdict:
        return Silent.EQUAL
    failed = a if a.verdict == "fail" else b
    operation = failed.failure.operation if failed.failure else ""
    seen = failed.failure.seen if failed.failure else failed.reason
    cause = f"{a.verdict} by a, {b.verdict} by b" + (f", in {operation}" if operation else "")
    told = [seen if one is failed and seen else one.verdict for one in (a, b)]
    return Divergence(VERDICT, f"{cause}: {', '.join(phrases(seen))}"[:200], told[0], told[1])


def _pairs(a: Result, b: Result) -> Iterator[tuple[Outcome, Outcome]]:
    """The pods of two runs of a test: by name, or in order where the name was made up by the API server."""
    mine, theirs = (by_pod(load(Path(one.artifacts))) for one in (a, b))
    for name in sorted(mine.keys() & theirs.keys()):
        yield from zip(sorted(mine[name], key=repr), sorted(theirs[name], key=repr), strict=False)


def by_pod(history: History) -> dict[str, list[Outcome]]:
    """What became of every pod that was not made on a node, by what its name does not leave to chance."""
    first: dict[str, Object] = {}
    bound: dict[str, str] = {}
    messages: dict[str, str] = {}
    for revision in history:
        if revision.kind != "Pod":
            continue
        pod = revision.object
        first.setdefault(revision.uid, pod)
        bound.setdefault(revision.uid, "")
        bound[revision.uid] = pod["spec"].get("nodeName") or bound[revision.uid]
        messages[revision.uid] = _message(pod) or messages.get(revision.uid, "")
    found: dict[str, list[Outcome]] = {}
    for uid, pod in first.items():
        if pod["spec"].get("nodeName"):
            continue
        outcome = Outcome(bound[uid], _general(messages[uid], pod), _events(history, ref_of(pod), pod))
        found.setdefault(_name(pod), []).append(outcome)
    return found


def _message(pod: Object) -> str:
    conditions = pod.get("status", {}).get("conditions", ())
    return next(
        (
            one.get("message", "")
            for one in conditions
            if one["type"] == "PodScheduled" and one["status"] == "False"
        ),
        "",
    )


def _events(history: History, pod: Ref, stored: Object) -> tuple[str, ...]:
    """Each sort of event with its last note; of a binding only that it happened, as the node is compared."""
    notes: dict[str, str] = {}
    for event in history.events(pod):
        note = str(event.get("note", ""))
        if _UNDONE.match(note):
            continue
        notes[str(event.get("reason", ""))] = "" if _ASSIGNED.match(note) else _general(note, stored)
    return tuple(f"{reason}: {note}" if note else reason for reason, note in sorted(notes.items()))


def _general(text: str, pod: Object) -> str:
    """A text without the namespace, which is numbered by run."""
    return text.replace(f"{pod['metadata']['namespace']}/", "NAMESPACE/")


def _name(pod: Object) -> str:
    meta = pod["metadata"]
    if meta.get("generateName"):
        return str(meta["generateName"])
    return str(meta["name"])


def outcomes(a: Outcome, b: Outcome) -> dict[str, Verdict]:
    """How far two runs agree about one pod."""
    placed = ["bound" if one.node else "never bound" for one in (a, b)]
    if placed[0] != placed[1]:
        parted = Divergence("placement", f"{placed[0]} by a, {placed[1]} by b", placed[0], placed[1])
        return {"placement": parted, "reasons": Silent.FOLLOWS, "events": Silent.FOLLOWS}
    verdicts: dict[str, Verdict] = dict.fromkeys(LEVELS, Silent.EQUAL)
    if a.message != b.message:
        said = contrast(a.message, b.message)
        verdicts["reasons"] = Divergence("reasons", said.words, a.message, b.message, parts=said.parts)
    if a.events != b.events:
        said = contrast("; ".join(a.events), "; ".join(b.events))
        facts = (list(a.events), list(b.events))
        verdicts["events"] = Divergence("events", said.words, *facts, parts=said.parts)
    return verdicts
