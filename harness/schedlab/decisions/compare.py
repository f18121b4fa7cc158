"""Where two decisions about the same pod in the same state differ.

Only fields that both sides observed are compared. What counts as equal although it looks different is listed
in docs/fuzz.md; there are three such rules: a plugin score of 0 equals an absent one, a binding or nomination
need only lie in the other side's legal set, and the node of highest total counts as legal in a side that
names no set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schedlab.decisions.decision import UNOBSERVED, Decision, NodeName, Preemption, Unobserved


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which the decisions differ; `path` names it as in the JSON form."""

    path: str
    expected: object
    got: object

    def __str__(self) -> str:
        return f"{self.path}: expected {_show(self.expected)}, got {_show(self.got)}"


def differences(reference: Decision, other: Decision) -> list[Difference]:
    """Every field in which `other` contradicts `reference`, coarse ones first; empty if they agree.

    Once the results or the feasible sets differ, what follows from them (scores over another set, another
    best node) is left out.
    """
    found = [*_plain("result", reference.result, other.result)]
    if found:
        return [*found, *_plain("message", reference.message, other.message)]
    found += _plain("feasible", reference.feasible, other.feasible)
    found += _plain("message", reference.message, other.message)
    if reference.node == other.node:  # the text of a binding names the node
        found += _plain("event", reference.event, other.event)
    if any(one.path == "feasible" for one in found):
        return found
    found += _scores(reference, other)
    found += _totals(reference, other)
    if not found:
        found += _choice(reference, other)
    if reference.preemption is not UNOBSERVED and other.preemption is not UNOBSERVED:
        found += _preemption(reference.preemption, other.preemption)
    return found


def _plain(path: str, expected: object, got: object) -> Iterator[Difference]:
    if UNOBSERVED in (expected, got):
        return
    if expected != got:
        yield Difference(path, expected, got)


def _scores(reference: Decision, other: Decision) -> Iterator[Difference]:
    if isinstance(reference.scores, Unobserved) or isinstance(other.scores, Unobserved):
        return
    for node in sorted(reference.scores.keys() & other.scores.keys()):
        expected, got = reference.scores[node], other.scores[node]
        for plugin in sorted(expected.keys() | got.keys()):
            yield from _plain(f"scores.{node}.{plugin}", expected.get(plugin, 0), got.get(plugin, 0))


def _totals(reference: Decision, other: Decision) -> Iterator[Difference]:
    if isinstance(reference.totals, Unobserved) or isinstance(other.totals, Unobserved):
        return
    for node in sorted(reference.totals.keys() | other.totals.keys()):
        yield from _plain(f"totals.{node}", reference.totals.get(node), other.totals.get(node))


def _choice(reference: Decision, other: Decision) -> Iterator[Difference]:
    if reference.result != "Scheduled":
        return
    expected = legal(reference)
    if not isinstance(other.legal, Unobserved):
        yield from _plain("legal", expected, other.legal)
        if reference.node is not UNOBSERVED and reference.node not in other.legal:
            yield Difference("node", reference.node, other.legal)
    elif not isinstance(expected, Unobserved) and other.node is not UNOBSERVED and other.node not in expected:
        yield Difference("node", expected, other.node)


def legal(decision: Decision) -> frozenset[NodeName] | Unobserved:
    """The nodes a decision allows: as it says, or those of highest total, or the only feasible one."""
    if not isinstance(decision.legal, Unobserved):
        return decision.legal
    if not isinstance(decision.totals, Unobserved):
        return best(decision.totals)
    if not isinstance(decision.feasible, Unobserved) and len(decision.feasible) == 1:
        return decision.feasible
    return UNOBSERVED


def best(totals: Mapping[NodeName, int]) -> frozenset[NodeName]:
    """The nodes that share the highest total."""
    top = max(totals.values())
    return frozenset(node for node, total in totals.items() if total == top)


def _preemption(reference: Preemption, other: Preemption) -> Iterator[Difference]:
    if not isinstance(reference.candidates, Unobserved) and not isinstance(other.candidates, Unobserved):
        for node in sorted(reference.candidates.keys() | other.candidates.keys()):
            expected, got = reference.candidates.get(node), other.candidates.get(node)
            if expected is None or got is None:
                yield Difference(f"preemption.candidates.{node}", expected, got)
                continue
            yield from _plain(f"preemption.candidates.{node}.victims", expected.victims, got.victims)
            yield from _plain(f"preemption.candidates.{node}.violations", expected.violations, got.violations)
    yield from _nomination(reference, other)


def _nomination(reference: Preemption, other: Preemption) -> Iterator[Difference]:
    """A nomination must be one that the other side allows; that it happened at all is compared too."""
    expected, got = reference.nominated, other.nominated
    if isinstance(expected, Unobserved):
        return
    if not isinstance(other.best, Unobserved):
        if (expected not in other.best) if expected else other.best:
            yield Difference("preemption.nominated", expected, other.best)
        return
    if isinstance(got, Unobserved) or isinstance(reference.candidates, Unobserved):
        return
    if (got not in reference.candidates) if expected else got:
        yield Difference("preemption.nominated", expected, got)


def _show(value: object) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    return repr(value)
