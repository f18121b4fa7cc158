"""The fuzz loop: draw, record, ask, compare; and what to do with a difference.

Recording is bound by the API server and explaining by one process of its own, so the answers to one case are
compared while the next is being recorded.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedlab import timing
from schedlab.api.client import ApiError
from schedlab.api.objects import Object
from schedlab.decisions import corpus
from schedlab.decisions.compare import differences
from schedlab.decisions.corpus import Case, Question
from schedlab.decisions.decision import Decision
from schedlab.decisions.explain import Explain, decode
from schedlab.errors import SchedlabError
from schedlab.fuzz import ask, generate, reproduction
from schedlab.fuzz.ask import Finding
from schedlab.fuzz.incremental import Incremental
from schedlab.fuzz.live import Live
from schedlab.fuzz.plan import Plan
from schedlab.fuzz.recorder import Recorder
from schedlab.fuzz.replant import is_nominated, plan_of, planned
from schedlab.fuzz.shrink import shrink
from schedlab.fuzz.tally import Tally

#: How many findings of one signature are shrunk and written down; the others are only counted.
_SHRUNK_PER_SIGNATURE = 2
#: A run ends when so many cases in a row could not be played: the environment is broken, not the cases.
_PATIENCE = 5
_ARRIVALS = 30
#: How many features are taken out of each decision, to see whether they matter.
EXERCISE = 3

Report = Callable[[Tally], None]


@dataclass(slots=True)
class Settings:
    """What to do: how many decisions, from which seed, with which features, and where findings go.

    `exercise` features are tried per decision, until one has changed the answer `enough` times. The judge
    knows the default configuration only. `sampled` draws more nodes than are looked at. `dress` has the last
    word on a plan before it is played.
    """

    decisions: int
    seed: int
    features: tuple[str, ...]
    findings: Path
    provenance: str = ""
    exercise: int = EXERCISE
    enough: int = 250
    most_differences: int | None = None
    shrink_attempts: int = 300
    judge: bool = True
    sampled: bool = False
    dress: Callable[[Plan], Plan] = lambda plan: plan


@dataclass(slots=True)
class Run:
    """One run of the loop.

    `explain` is None when decisions are only recorded and judged; `plain` explains under the default
    configuration when another one is compared.
    """

    settings: Settings
    recorder: Recorder
    explain: Explain | None
    live: Live | None = None
    plain: Explain | None = None
    report: Report = lambda _: None
    tally: Tally = field(default_factory=Tally)
    cases: list[Case] = field(default_factory=list)
    keep_cases: bool = False
    _incremental: Incremental = field(default_factory=Incremental)
    _shrunk: dict[str, int] = field(default_factory=dict)
    _written: int = 0

    async def run(self) -> Tally:
        """Go on until there are enough decisions.

        Raises:
            SchedlabError: several cases in a row could not be played, or `explain` ended.
        """
        started = timing.monotonic()
        checking: asyncio.Task[list[Finding]] | None = None
        checked: Case | None = None
        failures, index = 0, 0
        while self.tally.decisions < self.settings.decisions and not self._enough:
            case = await self._record(self._plan(index))
            index += 1
            failures = 0 if case else failures + 1
            if failures >= _PATIENCE:
                raise SchedlabError(
                    f"{failures} cases in a row could not be played: {dict(self.tally.discarded)}"
                )
            if checking is not None and checked is not None:
                await self._settle(await checking, checked)
            checking, checked = (asyncio.create_task(self._check(case)), case) if case else (None, None)
            self.tally.seconds = timing.monotonic() - started
            self.report(self.tally)
        if checking is not None and checked is not None:
            await self._settle(await checking, checked)
        self.tally.seconds = timing.monotonic() - started
        return self.tally

    @property
    def _enough(self) -> bool:
        most = self.settings.most_differences
        return most is not None and sum(self.tally.differences.values()) >= most

    def _plan(self, index: int) -> Plan:
        left = self.settings.decisions - self.tally.decisions
        seed = self.settings.seed * 1_000_000 + index
        return self.settings.dress(generate.plan(seed, self.settings.features, arrivals=min(_ARRIVALS, left)))

    async def _record(self, plan: Plan) -> Case | None:
        try:
            case = await self.recorder.play(plan)
        except ApiError as error:
            reason = f"the API refused the case: {error.reason or error.status} {error.text[:160]}"
            self.tally.discarded[reason] += len(plan.arrivals)
            return None
        except SchedlabError as error:
            self.tally.discarded[f"not decided in time: {error.message[:160]}"] += len(plan.arrivals)
            return None
        self.tally.cases += 1
        for step in case.steps:
            self.tally.add(step.decision)
        if self.keep_cases:
            self.cases.append(case)
        return case

    async def _check(self, case: Case) -> list[Finding]:
        """Compare every decision of a case with the judge, with `explain`, and with the running scheduler."""
        found: list[Finding] = []
        incremental = self._incremental.questions(case)
        for question in corpus.unroll(case):
            if self.settings.judge and (finding := ask.judged(question)):
                found.append(finding)
            if self.explain is None:
                continue
            finding, decision = await ask.explained(question, self.explain, sampled=self.settings.sampled)
            events = await ask.remembered(question, decision, self.explain, next(incremental))
            found += [one for one in (finding, events) if one]
            if not finding:
                await self._exercise(question, decision, case)
                await self._switched(question, decision)
        return [*found, *await self._followed(case)]

    async def _followed(self, case: Case) -> list[Finding]:
        """What the running scheduler did otherwise, if there is one."""
        if self.live is None:
            return []
        try:
            found = await self.live.follow(case)
        except ApiError as error:
            self.tally.discarded[f"the API refused the live case: {error.text[:160]}"] += 1
            return []
        self.tally.followed = self.live.followed
        return [Finding(question, "live", tuple(differing)) for question, differing in found]

    async def _exercise(self, question: Question, decision: Decision, case: Case) -> None:
        """Ask again without those features that have changed the fewest answers so far."""
        if self.explain is None:
            return
        seen, enough = self.tally.exercised, self.settings.enough
        wanting = sorted((name for name in case.features if seen[name] < enough), key=seen.__getitem__)
        names = wanting[: self.settings.exercise]
        self.tally.tried.update(names)
        self.tally.exercised.update(await ask.exercised(question, decision, self.explain, names))

    async def _switched(self, question: Question, decision: Decision) -> None:
        """Count the decision if the default configuration would have made another one."""
        if self.plain is not None:
            otherwise = decode(await self.plain.ask(question.to_explain()))
            self.tally.switched += ask.answer_of(otherwise) != ask.answer_of(decision)

    async def _settle(self, found: Sequence[Finding], case: Case) -> None:
        for finding in found:
            signature = finding.signature
            done = self._shrunk.get(signature, 0)
            if done >= _SHRUNK_PER_SIGNATURE:
                self.tally.differences[signature] += 1
                continue
            self._shrunk[signature] = done + 1
            await self._reproduce(finding, case)

    async def _reproduce(self, finding: Finding, case: Case) -> None:
        """Ask again, on its own; shrink what shows again, and write it down either way.

        A state whose reference answers differently the second time says nothing: it is discarded, and
        counted.
        """
        again = await self._finding(finding.question.objects, finding.question.pod, finding.side)
        if again is None:
            if finding.side != "events" and await self._wavers(finding.question):
                self.tally.discarded["the reference answered differently when asked again"] += 1
                return
            self.tally.differences[finding.signature] += 1
            self._write(finding, case, "shows only within its case")
            return
        self.tally.differences[finding.signature] += 1
        wanted = again.signature

        async def shows(objects: Sequence[Object], pod: Object) -> bool:
            tried = await self._finding(objects, pod, finding.side)
            return tried is not None and tried.signature == wanted

        attempts = self.settings.shrink_attempts
        small = await shrink(finding.question.objects, finding.question.pod, shows, attempts=attempts)
        final = await self._finding(small.objects, small.pod, finding.side) or again
        self._write(final, corpus.single(final.question, case), f"shrunk in {small.attempts} attempts")

    async def _finding(self, objects: Sequence[Object], pod: Object, side: str) -> Finding | None:
        """The difference in a state of its own; None if there is none, or the API does not take the state."""
        if side == "events":  # what was remembered wrongly is not in any one state
            return None
        try:
            case = await self.recorder.play(planned(objects, pod))
        except ApiError:
            return None
        question = next(corpus.unroll(case))
        if side == "judge":
            return ask.judged(question)
        if side == "live":
            return next(iter(await self._followed(case)), None)
        if self.explain is None:
            return None
        return (await ask.explained(question, self.explain, sampled=self.settings.sampled))[0]

    async def _wavers(self, question: Question) -> bool:
        """True if the reference itself does not repeat its answer in the same state."""
        if any(map(is_nominated, question.objects)):
            return False  # nominated pods cannot be brought about, so this would be another state
        case = await self.recorder.play(plan_of(question))
        return bool(differences(question.decision, case.steps[0].decision))

    def _write(self, finding: Finding, case: Case, remark: str) -> None:
        self._written += 1
        name = f"difference-{self.settings.seed}-{self._written:03d}"
        provenance = f"{finding.side} differs from kube-scheduler; {self.settings.provenance}; {remark}"
        found = reproduction.Reproduction(
            case=dataclasses.replace(case, name=name, source=provenance),
            question=finding.question,
            differences=finding.differences,
            got=finding.got,
        )
        reproduction.write(found, self.settings.findings)
