"""Comparison over random states: both schedulers decide the same pods in the same states.

One plays a case while the other one still follows the case before. A cause that was found is asked for again
in the smallest state that showed it, alone, and that state is then shrunk: what does not show again depends
on more than the state, and the report says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schedlab.api.client import ApiError
from schedlab.api.objects import Object
from schedlab.compare.ledger import Example, Group, Ledger
from schedlab.compare.levels import Divergence, Verdict, compare
from schedlab.compare.witnesses import Bench
from schedlab.decisions import corpus
from schedlab.decisions.corpus import Case
from schedlab.errors import SchedlabError
from schedlab.fuzz import generate
from schedlab.fuzz.plan import Plan
from schedlab.fuzz.replant import planned
from schedlab.fuzz.shrink import shrink

_ARRIVALS = 30
#: A run ends when so many cases in a row could not be played: the environment is broken, not the cases.
_PATIENCE = 5


@dataclass(frozen=True, slots=True)
class Settings:
    """How many decisions from which seed with which features, and how hard to look for small examples."""

    decisions: int
    seed: int
    features: tuple[str, ...]
    shrink_attempts: int = 60


@dataclass(slots=True)
class Fuzzed:
    """One run; `report` is told the ledger after each case."""

    bench: Bench
    settings: Settings
    ledger: Ledger
    report: Callable[[Ledger], None] = lambda _: None
    _failures: int = field(default=0, init=False)

    async def run(self) -> list[Group]:
        """Go on until there are enough decisions, then look for small examples; returns all causes.

        Raises:
            SchedlabError: several cases in a row could not be played.
        """
        following: asyncio.Task[None] | None = None
        index = played = 0
        while played < self.settings.decisions:
            plan = self._plan(index, self.settings.decisions - played)
            index += 1
            case = await self._play(plan)
            if following is not None:
                await following
                self.report(self.ledger)
            following = asyncio.create_task(self._follow(plan, case)) if case else None
            played += len(case.steps) if case else 0
        if following is not None:
            await following
        groups = self.ledger.groups()
        for group in groups:
            await self._confirm(group)
        return groups

    def _plan(self, index: int, left: int) -> Plan:
        seed = self.settings.seed * 1_000_000 + index
        return generate.plan(seed, self.settings.features, arrivals=min(_ARRIVALS, left))

    async def _play(self, plan: Plan) -> Case | None:
        try:
            case = await self.bench.leader.play(plan)
        except SchedlabError as error:
            self._discard(error, len(plan.arrivals))
            return None
        self._failures = 0
        return case

    def _discard(self, error: SchedlabError, decisions: int) -> None:
        """Count what could not be played.

        Raises:
            SchedlabError: it was not the first in a row.
        """
        self.ledger.discarded[_why(error)] += decisions
        self._failures += 1
        if self._failures >= _PATIENCE:
            found = dict(self.ledger.discarded)
            raise SchedlabError(f"{self._failures} cases in a row could not be played: {found}") from error

    async def _follow(self, plan: Plan, case: Case) -> None:
        """Let both sides decide a case, and take in how they agree."""
        try:
            answers = [await side.answers(plan, case) for side in (self.bench.a, self.bench.b)]
        except SchedlabError as error:
            self._discard(error, len(case.steps))
            return
        questions = list(corpus.unroll(case))
        for question, a, b in zip(questions, *answers, strict=False):
            example = Example(f"seed {case.seed}", question.objects, question.pod)
            self.ledger.add(compare(a, b, self.ledger.levels), example)
        if left := len(questions) - min(map(len, answers)):
            self.ledger.discarded["a preemption or a nomination parted the states"] += left

    async def _confirm(self, group: Group) -> None:
        """Show the difference again in a state of its own, as small as can be found."""
        example = group.example
        if example.pod is None:
            return
        level = group.divergence.level

        async def shows(objects: Sequence[Object], pod: Object) -> bool:
            found = (await self._alone(objects, pod)).get(level)
            return isinstance(found, Divergence) and found.is_of(group.cause)

        group.confirmed = await shows(example.objects, example.pod)
        if not group.confirmed:
            return
        attempts = self.settings.shrink_attempts
        small = await shrink(example.objects, example.pod, shows, attempts=attempts)
        found = (await self._alone(small.objects, small.pod)).get(level)
        if isinstance(found, Divergence):
            group.divergence, group.example = found, Example(example.where, small.objects, small.pod)

    async def _alone(self, objects: Sequence[Object], pod: Object) -> dict[str, Verdict]:
        """How the sides agree about one pod in one state; nothing if it cannot be played."""
        plan = planned(objects, pod)
        try:
            case = await self.bench.leader.play(plan)
            answers = [await side.answers(plan, case) for side in (self.bench.a, self.bench.b)]
        except (ApiError, SchedlabError):
            return {}
        return compare(answers[0][0], answers[1][0], self.ledger.levels) if all(answers) else {}


def _why(error: SchedlabError) -> str:
    if isinstance(error, ApiError):
        return f"the API refused the case: {error.reason or error.status} {error.text[:160]}"
    return f"not decided in time: {error.message[:160]}"
