"""What a run of fuzz has to show for itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from schedlab.decisions.decision import Decision


@dataclass(slots=True)
class Tally:
    """Counts of one run.

    `tried` counts decisions that were asked again without a feature of their case, `exercised` those among
    them whose answer was another one then. `switched` counts decisions that the default configuration makes
    otherwise. `followed` counts decisions that a running scheduler was led
    through. `discarded` counts decisions by the reason why they say nothing.
    """

    cases: int = 0
    decisions: int = 0
    seconds: float = 0.0
    results: Counter[str] = field(default_factory=Counter)
    preemptions: int = 0
    switched: int = 0
    followed: int = 0
    differences: Counter[str] = field(default_factory=Counter)
    discarded: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    exercised: Counter[str] = field(default_factory=Counter)

    def add(self, decision: Decision) -> None:
        """Count one recorded decision."""
        self.decisions += 1
        self.results[decision.result] += 1
        self.preemptions += decision.preempts

    @property
    def rate(self) -> float:
        """Decisions per second."""
        return self.decisions / self.seconds if self.seconds else 0.0

    @property
    def failed(self) -> bool:
        """True if any two sides disagreed."""
        return bool(self.differences)

    def to_json(self) -> dict[str, Any]:
        """All counts, for reports."""
        return {
            "cases": self.cases,
            "decisions": self.decisions,
            "seconds": round(self.seconds, 1),
            "perSecond": round(self.rate, 1),
            "results": dict(self.results),
            "preemptions": self.preemptions,
            "switched": self.switched,
            "followedLive": self.followed,
            "differences": dict(self.differences),
            "discarded": dict(self.discarded),
            "features": {
                name: {"tried": self.tried[name], "exercised": self.exercised[name]} for name in self.tried
            },
        }

    def line(self) -> str:
        """One line of progress."""
        parts = [f"{self.decisions} decisions", f"{self.rate:.0f}/s"]
        parts += [f"{count} {result.lower()}" for result, count in self.results.most_common()]
        parts.append(f"{self.preemptions} preemptions")
        if self.followed:
            parts.append(f"{self.followed} followed live")
        parts.append(f"{sum(self.differences.values())} differences")
        if self.discarded:
            parts.append(f"{sum(self.discarded.values())} discarded")
        return ", ".join(parts)

    def table(self) -> list[str]:
        """Which features were exercised, one per line, for people."""
        return [
            f"  {name:<14} changed the answer in {self.exercised[name]} of {self.tried[name]} decisions"
            for name in sorted(self.tried)
        ]
