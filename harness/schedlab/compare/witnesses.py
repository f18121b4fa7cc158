"""The ways in which a scheduler's decisions in a case are learned.

A recorded scheduler is watched from all sides while it plays; an explaining one is asked about each state;
of any other there is only what the API shows. Whoever leads brings the states about, and the others are kept
on that course.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import msgspec

from schedlab.compare.sides import Side
from schedlab.decisions import corpus
from schedlab.decisions.corpus import Case
from schedlab.decisions.decision import Decision
from schedlab.decisions.explain import Explain, decode
from schedlab.fuzz.live import Live, live
from schedlab.fuzz.oracle import oracle
from schedlab.fuzz.plan import Object, Plan
from schedlab.fuzz.recorder import Recorder
from schedlab.schedulers.configuration import configuration
from schedlab.schedulers.running import executable


class Witness(Protocol):
    """Somebody who says what one scheduler decides in a case."""

    async def answers(self, plan: Plan, case: Case) -> list[Decision]:
        """The decision of each step, as far as the states could be kept equal; maybe fewer than steps."""
        ...


class Leader:
    """The scheduler that played the case."""

    async def answers(self, plan: Plan, case: Case) -> list[Decision]:  # noqa: ARG002 - all is in the case
        """What was recorded."""
        return [step.decision for step in case.steps]


@dataclass(frozen=True, slots=True)
class Follower:
    """A scheduler that plays the same case and is recorded, too."""

    recorder: Recorder

    async def answers(self, plan: Plan, case: Case) -> list[Decision]:
        """What is recorded while the state is kept on the leader's course."""
        played = await self.recorder.play(in_order(plan, case), case.steps)
        return [step.decision for step in played.steps]


@dataclass(frozen=True, slots=True)
class Explainer:
    """A scheduler that answers questions about states."""

    explain: Explain

    async def answers(self, plan: Plan, case: Case) -> list[Decision]:  # noqa: ARG002 - all is in the case
        """What it says about every state of the case."""
        asked = (question.to_explain() for question in corpus.unroll(case))
        return [decode(answer) async for answer in self.explain.ask_all(asked)]


@dataclass(frozen=True, slots=True)
class Onlooker:
    """A scheduler of which only the API shows anything."""

    live: Live

    async def answers(self, plan: Plan, case: Case) -> list[Decision]:  # noqa: ARG002 - all is in the case
        """What it does, pod by pod."""
        return await self.live.answers(case)


def in_order(plan: Plan, case: Case) -> Plan:
    """The plan with its objects in the order in which they came about in a case."""
    order = {_key(obj): index for index, obj in enumerate(case.objects)}
    objects = sorted(plan.objects, key=lambda obj: order.get(_key(obj), len(order)))
    return replace(plan, objects=tuple(objects))


def _key(obj: Object) -> tuple[str, str, str]:
    meta = obj["metadata"]
    return obj["kind"], meta.get("namespace", "default"), meta["name"]


@dataclass(frozen=True, slots=True)
class Bench:
    """All that a comparison over cases needs: who plays them, and who says what either side decides."""

    leader: Recorder
    a: Witness
    b: Witness
    seen_by: tuple[str, str]


@asynccontextmanager
async def bench(a: Side, b: Side) -> AsyncIterator[Bench]:
    """Both sides, started; everything ends with the context.

    The first side that can be recorded leads. If neither can, kube-scheduler brings the states about.

    Raises:
        EnvironmentStartError: a control plane or a scheduler does not come up.
    """
    async with AsyncExitStack() as stack:
        first = next((one for one in (a, b) if one.spec.spec.log), None)
        name = f"compare-{first.letter if first else 'states'}"
        leading = oracle(name, scheduler=first.spec if first else None, config=first.config if first else {})
        leader = await stack.enter_async_context(leading)
        found = [
            (Leader(), "its log and a tap, leading") if one is first else await witness(stack, one)
            for one in (a, b)
        ]
        (of_a, how_a), (of_b, how_b) = found
        yield Bench(leader, of_a, of_b, (how_a, how_b))


async def witness(stack: AsyncExitStack, side: Side) -> tuple[Witness, str]:
    """The way of learning one side's decisions that shows most, and its name."""
    name = f"compare-{side.letter}"
    if side.spec.spec.log:
        recorder = oracle(name, scheduler=side.spec, config=side.config)
        return Follower(await stack.enter_async_context(recorder)), "its log and a tap"
    if not side.spec.spec.explain_lines:
        running = live(side.spec, side.config, name)
        return Onlooker(await stack.enter_async_context(running)), "the API only"
    directory = Path(stack.enter_context(TemporaryDirectory(prefix="schedlab-compare-")))
    file = directory / "config.json"
    config = configuration(side.spec.spec.config, side.config, directory / "kubeconfig")
    file.write_bytes(msgspec.json.encode(config))
    values = {"config": str(file), "python": sys.executable}
    argv = executable(side.spec, side.spec.spec.explain_lines, values)
    return Explainer(await stack.enter_async_context(Explain(argv))), "its own explanation"
