"""Asks both sides the same question and says how they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from schedlab.decisions.compare import Difference, differences
from schedlab.decisions.corpus import Question
from schedlab.decisions.decision import UNOBSERVED, Decision, Unobserved
from schedlab.decisions.explain import Explain, decode
from schedlab.decisions.sampled import contradictions
from schedlab.fuzz.features import FEATURES
from schedlab.judge import rules


@dataclass(frozen=True, slots=True)
class Finding:
    """One decision on which two sides differ.

    `side` contradicts the reference: `explain`, `judge` or `live`. `events` contradicts not the reference but
    `explain` itself, asked in another form.
    """

    question: Question
    side: str
    differences: tuple[Difference, ...]
    got: dict[str, Any] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """What sort of difference it is: the field, without node names, and the plugins that disagree.

        Findings of one signature are one mistake more often than not, so only the first few are shrunk.
        """
        return f"{self.side}: {'; '.join(sorted({_sort(one) for one in self.differences})[:3])}"


def _sort(difference: Difference) -> str:
    parts = difference.path.split(".")
    if parts[0] == "scores":
        return f"scores.{parts[-1]}"
    return ".".join(part for part in parts if part in _FIELDS)


_FIELDS = frozenset(
    {
        "result",
        "state",
        "event",
        "message",
        "feasible",
        "totals",
        "legal",
        "node",
        "preemption",
        "candidates",
        "victims",
        "violations",
        "nominated",
    }
)


def judged(question: Question) -> Finding | None:
    """What the judge has to say: None if it allows exactly the nodes that the reference found feasible."""
    expected = question.decision.feasible
    if isinstance(expected, Unobserved):
        return None
    allowed = rules.feasible(question.objects, question.pod)
    if allowed == expected:
        return None
    return Finding(
        question, "judge", (Difference("feasible", expected, allowed),), {"feasible": sorted(allowed)}
    )


def contradiction(question: Question, answer: Mapping[str, Any], *, sampled: bool = False) -> Finding | None:
    """The finding if an answer of `explain` differs from what the reference decided, or does not allow it."""
    compare = contradictions if sampled else differences
    found = compare(question.decision, decode(answer))
    return Finding(question, "explain", tuple(found), dict(answer)) if found else None


async def explained(
    question: Question, explain: Explain, *, sampled: bool = False
) -> tuple[Finding | None, Decision]:
    """What the scheduler's own explanation says, and the finding if that differs from the reference."""
    answer = await explain.ask(question.to_explain())
    return contradiction(question, answer, sampled=sampled), decode(answer)


async def remembered(
    question: Question, fresh: Decision, explain: Explain, events: Mapping[str, Any]
) -> Finding | None:
    """The finding if a state kept up to date by events answers otherwise than one built from objects."""
    answer = await explain.ask(events)
    found = differences(fresh, decode(answer))
    return Finding(question, "events", tuple(found), answer) if found else None


async def exercised(
    question: Question, decision: Decision, explain: Explain, features: Iterable[str]
) -> Counter[str]:
    """The features without which the answer would have been another one.

    Asked of the scheduler's explanation, which has just agreed with the reference about the whole state.
    """
    counts: Counter[str] = Counter()
    whole = msgspec.json.encode((question.objects, question.pod))
    for name in features:
        objects, pod = msgspec.json.decode(whole)  # a copy, ten times as fast as `copy.deepcopy`
        FEATURES[name].strip(objects, pod)
        stripped = decode(await explain.ask({"objects": objects, "pod": pod}))
        if answer_of(stripped) != answer_of(decision):
            counts[name] += 1
    return counts


def answer_of(decision: Decision) -> Sequence[object]:
    """The parts of an explanation by which two answers are the same or not."""
    found: object = UNOBSERVED
    if not isinstance(decision.preemption, Unobserved):
        found = (decision.preemption.candidates, decision.preemption.best)
    return (decision.result, decision.message, decision.feasible, decision.scores, found)
