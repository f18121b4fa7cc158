"""How far two decisions about one pod in one state agree, level by level.

Levels are compared apart from each other: equal placements do not hide other scores. What one side did not
show is not compared, and neither is what must differ because an earlier stage did: scores are normalised over
the feasible nodes, so among other nodes they say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from schedlab.compare.texts import contrast, phrases
from schedlab.decisions.compare import legal
from schedlab.decisions.decision import UNOBSERVED, Candidate, Decision, Preemption, Seen, Unobserved

#: Plain facts of one decision, as JSON has them.
Fact = str | int | list[str] | None


class Silent(Enum):
    """Why a level of a decision was not compared, or that it is equal."""

    EQUAL = "equal"
    ABSENT = "absent"
    UNOBSERVED = "unobserved"
    FOLLOWS = "follows"


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two decisions part on one level.

    `cause` is the same for all divergences that look alike: it names no node and no pod. Of texts it is what
    only one side says, and `parts` are the phrases, each of which may be the cause of others as well.
    `plugin` and `node` are the first ones on which they part, empty where none is shown; `a` and `b` are what
    either side has.
    """

    level: str
    cause: str
    a: Fact
    b: Fact
    plugin: str = ""
    node: str = ""
    parts: frozenset[str] = frozenset()

    def is_of(self, cause: str) -> bool:
        """True if it looks like others of a cause."""
        return cause == self.cause or cause in self.parts


Verdict = Divergence | Silent


def compare(a: Decision, b: Decision, levels: Iterable[str]) -> dict[str, Verdict]:
    """What there is to say about each of these levels."""
    return {level: LEVELS[level](a, b) for level in levels}


def _placement(a: Decision, b: Decision) -> Verdict:
    """Whether the pod is scheduled, on which nodes it may be, and which node is promised to it."""
    if a.result != b.result:
        return Divergence("placement", f"{a.result} by a, {b.result} by b", a.result, b.result)
    if a.result == "Scheduled":
        return _choice(a, b)
    if isinstance(a.preemption, Unobserved) or isinstance(b.preemption, Unobserved):
        return Silent.EQUAL
    return _nomination(a.preemption, b.preemption)


def _choice(a: Decision, b: Decision) -> Verdict:
    """A tie may be broken either way, so the nodes that may be chosen are compared, where both are known."""
    one, other = legal(a), legal(b)
    if isinstance(one, Unobserved) or isinstance(other, Unobserved):
        return _deed(a, b, one, other)
    if one == other:
        return Silent.EQUAL
    scores = _scores(a, b)
    plugin = scores.plugin if isinstance(scores, Divergence) else ""
    cause = "other nodes are best" + (f", by the scores of {plugin}" if plugin else "")
    if scores is Silent.FOLLOWS or a.feasible != b.feasible:
        cause = "other nodes are best, as others are feasible"
    return Divergence("placement", cause, sorted(one), sorted(other), plugin, min(one ^ other))


def _deed(a: Decision, b: Decision, one: Seen[frozenset[str]], other: Seen[frozenset[str]]) -> Verdict:
    """One side shows only where it put the pod: that must be among what the other side allows."""
    for mine, theirs in ((a.node, other), (b.node, one)):
        if isinstance(mine, str) and not isinstance(theirs, Unobserved):
            if mine in theirs:
                return Silent.EQUAL
            return Divergence("placement", "other nodes are best", _fact(a.node), _fact(b.node), node=mine)
    return Silent.UNOBSERVED


def _nomination(a: Preemption, b: Preemption) -> Verdict:
    """A node is promised by both or by neither; which one counts only if both say what they may choose."""
    one, other = _promised(a), _promised(b)
    if one is None or other is None:
        return Silent.UNOBSERVED
    if bool(one) == bool(other) and (one & other or not one):
        return Silent.EQUAL
    words = [f"{'preempts' if nodes else 'does not preempt'}" for nodes in (one, other)]
    same = words[0] == words[1]
    cause = "preempts on other nodes" if same else f"a {words[0]}, b {words[1]}"
    plugin = "DefaultPreemption"
    return Divergence("placement", cause, sorted(one), sorted(other), plugin, min(one ^ other))


def _promised(found: Preemption) -> frozenset[str] | None:
    """The nodes that may be promised: those a side names, or its candidates; None if it shows neither."""
    if not isinstance(found.best, Unobserved):
        return found.best
    if isinstance(found.nominated, Unobserved):
        return None
    if found.nominated is None:
        return frozenset()
    if isinstance(found.candidates, Unobserved):
        return frozenset({found.nominated})
    return frozenset(found.candidates) | {found.nominated}


def _feasible(a: Decision, b: Decision) -> Verdict:
    """The nodes that the pod fits on, and those on which preemption would make room, with the victims."""
    if isinstance(a.feasible, Unobserved) or isinstance(b.feasible, Unobserved):
        return Silent.UNOBSERVED
    if a.feasible != b.feasible:
        node = min(a.feasible ^ b.feasible)
        fits, refuses = ("a", b) if node in a.feasible else ("b", a)
        plugin, reasons = _refusal(refuses, node)
        what = " ".join(filter(None, (plugin, reasons))) or "the reason is not shown"
        cause = f"only {fits} finds a node feasible: {what}"
        words = ("feasible", "refused") if fits == "a" else ("refused", "feasible")
        return Divergence("feasible", cause, *words, plugin, node)
    if isinstance(a.preemption, Unobserved) or isinstance(b.preemption, Unobserved):
        return Silent.EQUAL
    return _candidates(a.preemption.candidates, b.preemption.candidates)


def _refusal(decision: Decision, node: str) -> tuple[str, str]:
    if isinstance(decision.refusals, Unobserved) or node not in decision.refusals:
        return "", ""
    refusal = decision.refusals[node]
    return refusal.plugin, f"({', '.join(phrases(', '.join(refusal.reasons)))})" if refusal.reasons else ""


def _candidates(a: Seen[Mapping[str, Candidate]], b: Seen[Mapping[str, Candidate]]) -> Verdict:
    if isinstance(a, Unobserved) or isinstance(b, Unobserved):
        return Silent.EQUAL  # the feasible nodes were compared, and are
    for node in sorted(a.keys() | b.keys()):
        one, other = a.get(node), b.get(node)
        if one is None or other is None:
            cause = f"only {'b' if one is None else 'a'} would preempt on a node"
        elif one.victims != other.victims:
            cause = "other victims"
        elif UNOBSERVED not in (one.violations, other.violations) and one.violations != other.violations:
            cause = "other numbers of broken budgets"
        else:
            continue
        return Divergence("feasible", cause, _victims(one), _victims(other), "DefaultPreemption", node)
    return Silent.EQUAL


def _victims(candidate: Candidate | None) -> Fact:
    if candidate is None:
        return None
    broken = 0 if isinstance(candidate.violations, Unobserved) else candidate.violations
    return [*sorted(candidate.victims), *([f"{broken} broken budgets"] if broken else [])]


def _scores(a: Decision, b: Decision) -> Verdict:
    """What each plugin gives each node, weighted; a score of 0 equals an absent one."""
    if _unscored(a) and _unscored(b):
        return Silent.ABSENT
    if isinstance(a.scores, Unobserved) or isinstance(b.scores, Unobserved):
        return Silent.UNOBSERVED
    if a.scores.keys() != b.scores.keys():
        return Silent.FOLLOWS
    found = [
        (plugin, node, one.get(plugin, 0), other.get(plugin, 0))
        for node, one in a.scores.items()
        for other in (b.scores[node],)
        for plugin in one.keys() | other.keys()
        if one.get(plugin, 0) != other.get(plugin, 0)
    ]
    if not found:
        return Silent.EQUAL
    plugin, node, mine, theirs = min(found)
    return Divergence("scores", " and ".join(sorted({one[0] for one in found})), mine, theirs, plugin, node)


def _unscored(decision: Decision) -> bool:
    """True if no node was scored, since at most one was feasible."""
    if decision.result != "Scheduled":
        return True
    return not isinstance(decision.feasible, Unobserved) and len(decision.feasible) == 1


def _reasons(a: Decision, b: Decision) -> Verdict:
    """The text of the pod's condition, and why each node was refused where both sides tell."""
    if a.result != b.result:
        return Silent.FOLLOWS
    if isinstance(a.message, Unobserved) or isinstance(b.message, Unobserved):
        return Silent.UNOBSERVED
    if a.message != b.message:
        return _text("reasons", a.message, b.message)
    if isinstance(a.refusals, Unobserved) or isinstance(b.refusals, Unobserved):
        return Silent.EQUAL
    for node in sorted(a.refusals.keys() & b.refusals.keys()):
        one, other = a.refusals[node], b.refusals[node]
        if one != other:
            said = contrast(", ".join(one.reasons), ", ".join(other.reasons))
            facts = ([one.plugin, *one.reasons], [other.plugin, *other.reasons])
            return Divergence("reasons", said.words, *facts, one.plugin, node, said.parts)
    return Silent.EQUAL


def _events(a: Decision, b: Decision) -> Verdict:
    """The note of the Scheduled or FailedScheduling event."""
    if isinstance(a.event, Unobserved) or isinstance(b.event, Unobserved):
        return Silent.UNOBSERVED
    if a.result != b.result or a.node != b.node:
        return Silent.FOLLOWS
    return Silent.EQUAL if a.event == b.event else _text("events", a.event, b.event)


def _text(level: str, a: str | None, b: str | None) -> Divergence:
    said = contrast(a or "", b or "")
    return Divergence(level, said.words, a, b, parts=said.parts)


def _fact(value: Seen[str | None]) -> Fact:
    return None if isinstance(value, Unobserved) else value


#: All levels, from what a user sees to how it came about.
LEVELS: Final[dict[str, Callable[[Decision, Decision], Verdict]]] = {
    "placement": _placement,
    "feasible": _feasible,
    "scores": _scores,
    "reasons": _reasons,
    "events": _events,
}
