"""What two messages of schedulers say otherwise, without the names and numbers of one case."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

#: What is particular to a case: braces and quotes with what is in them, names with a slash, numbers.
_PARTICULARS: Final = (
    (re.compile(r"\{[^{}]*\}"), "{…}"),
    (re.compile(r'"[^"]*"|(?<!\w)\'[^\']*\'(?!\w)'), "'…'"),
    (re.compile(r"\b[\w.]+(?:-[\w.]+)*/[a-z][\w.-]*\b"), "…/…"),
    (re.compile(r"\d+"), "N"),
)
_BREAKS: Final = re.compile(r",\s+|:\s+|\.\s+|\.$")
_COUNT: Final = re.compile(r"^N(/N)? ")


@dataclass(frozen=True, slots=True)
class Contrast:
    """What only one of two texts says, as general phrases; `counts` if only their numbers differ."""

    a: tuple[str, ...] = ()
    b: tuple[str, ...] = ()
    counts: bool = False

    @property
    def parts(self) -> frozenset[str]:
        """Each phrase with who says it; texts that share one may well differ for the same reason."""
        return frozenset(f"only {who} says: {phrase}" for who in "ab" for phrase in getattr(self, who))

    @property
    def words(self) -> str:
        """The contrast in one line."""
        if self.parts:
            return "; ".join(sorted(self.parts))
        if self.counts:
            return "other numbers in the same text"
        return "the same phrases about other objects, or in another order"


def contrast(a: str, b: str) -> Contrast:
    """What two texts say otherwise."""
    one, other = phrases(a), phrases(b)
    if set(one) == set(other):
        numbers = (sorted(re.findall(r"\d+", text)) for text in (a, b))
        return Contrast(counts=next(numbers) != next(numbers))
    return Contrast(
        tuple(phrase for phrase in one if phrase not in other),
        tuple(phrase for phrase in other if phrase not in one),
    )


def phrases(text: str) -> list[str]:
    """The parts of a message, sorted, with what is particular to a case replaced."""
    for pattern, word in _PARTICULARS:
        text = pattern.sub(word, text)
    parts = (_COUNT.sub("", part.strip()) for part in _BREAKS.split(text))
    return sorted(Counter(part for part in parts if part))
