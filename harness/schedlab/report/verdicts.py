"""The decisions of one test that are known: what schedulers logged, and what somebody's `explain` answered.

A test's directory may hold `decisions.json`, a list of `Noted`: whoever asks for an explanation, of whichever
scheduler, writes one there. Scores that a scheduler logs (kube-scheduler's and kubesched's `-v=10`, or
`--vmodule=schedule_one=10`) are read from its log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from schedlab.decisions.decision import UNOBSERVED, Decision
from schedlab.decisions.explain import decode
from schedlab.decisions.logbook import Attempt, Logbook
from schedlab.report.story import Row, Verdict

FILE = "decisions.json"
LONGEST = 100
"""Nodes of one decision that are shown; the best and the refused come first."""
_SCORED = b"Plugin scored node for pod"
_PIECE = 1 << 20


class Noted(msgspec.Struct, frozen=True):
    """A decision and who says so; `answer` is what `explain` prints as JSON."""

    source: str
    answer: dict[str, Any]


def note(directory: Path, noted: Noted) -> None:
    """Add a decision to those of a test."""
    file = directory / FILE
    known = msgspec.json.decode(file.read_bytes(), type=list[Noted]) if file.exists() else []
    file.write_bytes(msgspec.json.encode([*known, noted]) + b"\n")


def verdicts(directory: Path) -> Iterator[Verdict]:
    """All decisions that a test's directory knows of: answers of `explain` first, then the logs'."""
    file = directory / FILE
    if file.exists():
        for noted in msgspec.json.decode(file.read_bytes(), type=list[Noted]):
            yield shown(decode(noted.answer), noted.source)
    for log in sorted((directory / "logs").glob("*.log")):
        yield from _logged(log)


def shown(decision: Decision, source: str) -> Verdict:
    """A decision as it is drawn: one row per node, the best first, then the refused."""
    scores = _seen(decision.scores, {})
    totals = _seen(decision.totals, {})
    refusals = _seen(decision.refusals, {})
    chosen = _seen(decision.legal, frozenset())
    ranked = sorted({*scores, *totals}, key=lambda node: (-totals.get(node, 0), node))
    rows = [
        Row(node, scores=dict(scores.get(node, {})), total=totals.get(node), chosen=node in chosen)
        for node in ranked
    ]
    silent = sorted(_seen(decision.feasible, frozenset()) - set(ranked))
    rows += [Row(node, chosen=node in chosen) for node in silent]
    rows += [
        Row(node, plugin=one.plugin, reasons=one.reasons, refused=True)
        for node, one in sorted(refusals.items())
    ]
    return Verdict(
        pod=decision.pod,
        source=source,
        result=decision.result,
        message=_seen(decision.message, None) or "",
        rows=tuple(rows[:LONGEST]),
        more=max(len(rows) - LONGEST, 0),
    )


def _seen(value: Any, otherwise: Any) -> Any:  # noqa: ANN401 - of any field's type
    return otherwise if value is UNOBSERVED else value


def _logged(log: Path) -> Iterator[Verdict]:
    """The last scored attempt of each pod in a log; nothing if the log has no scores."""
    content = log.read_bytes()
    if _SCORED not in content:
        return
    book = Logbook()
    for start in range(0, len(content), _PIECE):
        book.feed(content[start : start + _PIECE].decode(errors="replace"))
    for pod, attempts in book.pods():
        scored = [attempt for attempt in attempts if attempt.scores]
        if scored:
            yield shown(_decision(pod, scored[-1]), f"{log.stem}, its log")


def _decision(pod: str, attempt: Attempt) -> Decision:
    totals: Mapping[str, int] = attempt.totals
    best = frozenset(node for node, total in totals.items() if total == max(totals.values()))
    return Decision(
        pod=pod,
        result="Scheduled" if attempt.end == "Scheduled" else "Error",
        scores=attempt.scores,
        totals=totals or UNOBSERVED,
        legal=best or UNOBSERVED,
    )
