"""Takes verdicts in, and sorts the differences among them by cause.

A text differs in several phrases at once: where one side refuses a node for another reason, numbers and
phrases that follow differ, too, and never the same ones. So the phrase that explains the most texts is taken
as the cause of all of them, then the one that explains the most of the rest, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schedlab.api.objects import Object
from schedlab.compare.comparison import Cause, Coverage
from schedlab.compare.levels import LEVELS, Divergence, Silent, Verdict
from schedlab.fuzz.replant import creatable

VERDICT = "verdict"
"""The level above all others: whether a test passed."""
_ORDER = {level: index for index, level in enumerate((VERDICT, *LEVELS))}
_PLACES = 20


@dataclass(frozen=True, slots=True)
class Example:
    """Where a difference showed: a case or a test, and the state if there is one."""

    where: str
    objects: Sequence[Object] = ()
    pod: Object | None = None

    @property
    def size(self) -> tuple[int, int]:
        """What small means: few objects, then little text."""
        return len(self.objects), len(repr(self.pod))


Found = tuple[Divergence, Example]


@dataclass(slots=True)
class Group:
    """The differences of one cause, with the smallest of them."""

    cause: str
    divergence: Divergence
    example: Example
    count: int
    places: Sequence[str]
    confirmed: bool | None = None

    def to_cause(self) -> Cause:
        """As it is reported."""
        found, example = self.divergence, self.example
        return Cause(
            level=found.level,
            cause=self.cause,
            count=self.count,
            plugin=found.plugin,
            node=found.node,
            a=found.a,
            b=found.b,
            where=example.where,
            places=list(self.places),
            confirmed=self.confirmed,
            objects=[creatable(obj) for obj in example.objects],
            pod=creatable(example.pod) if example.pod else None,
        )


@dataclass(slots=True)
class Ledger:
    """What was compared so far, and all that differed."""

    levels: Sequence[str] = tuple(LEVELS)
    decisions: int = 0
    coverage: dict[str, Coverage] = field(default_factory=dict)
    differences: list[Found] = field(default_factory=list)
    discarded: Counter[str] = field(default_factory=Counter)

    def add(self, verdicts: Mapping[str, Verdict], example: Example) -> None:
        """Count one decision."""
        self.decisions += 1
        for level in self.levels:
            if level in verdicts:
                self.note(level, verdicts[level], example)

    def note(self, level: str, verdict: Verdict, example: Example) -> None:
        """Count one verdict on one level."""
        coverage = self.coverage.setdefault(level, Coverage())
        match verdict:
            case Silent.ABSENT:
                coverage.absent += 1
            case Silent.UNOBSERVED:
                coverage.unobserved += 1
            case Silent.FOLLOWS:
                coverage.follows += 1
            case Silent.EQUAL:
                coverage.compared += 1
            case Divergence():
                coverage.compared += 1
                coverage.different += 1
                self.differences.append((verdict, example))

    def groups(self) -> list[Group]:
        """All differences by cause: levels in their order, the most frequent causes first."""
        found = [_group(cause, alike) for level in _ORDER for cause, alike in self._of(level)]
        return sorted(found, key=lambda one: (_ORDER[one.divergence.level], -one.count))

    def _of(self, level: str) -> Iterator[tuple[str, list[Found]]]:
        left = [one for one in self.differences if one[0].level == level]
        while left:
            counts = Counter(part for found, _ in left for part in found.parts or {found.cause})
            cause, _ = min(counts.items(), key=lambda item: (-item[1], item[0]))
            yield cause, [one for one in left if one[0].is_of(cause)]
            left = [one for one in left if not one[0].is_of(cause)]


def _group(cause: str, alike: list[Found]) -> Group:
    smallest, example = min(alike, key=lambda one: one[1].size)
    places = list(dict.fromkeys(one.where for _, one in alike))[:_PLACES]
    return Group(cause, smallest, example, len(alike), places)
