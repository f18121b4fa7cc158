"""Any sequence of verdicts on a waiting pod: the first that counts is the one, and it comes exactly once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.clock import VirtualClock
from kubesched.framework.status import Code
from kubesched.framework.waiting_pods import WaitingPod
from kubesched.testing.builders import pod

PLUGINS = "ABC"
TIMEOUTS = st.dictionaries(
    st.sampled_from(PLUGINS), st.sampled_from([1.0, 2.0, 5.0, 10.0, 900.0]), min_size=1
).filter(lambda timeouts: len(set(timeouts.values())) == len(timeouts))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["allow", "reject", "preempt"]), st.sampled_from(PLUGINS)),
        st.tuples(st.just("advance"), st.sampled_from([0.5, 1.0, 4.0, 20.0])),
    ),
    max_size=8,
)


@dataclass
class Model:
    """What must come of it: `verdict` is a code and the plugin that decided, or None while undecided."""

    pending: dict[str, float]
    now: float = 0.0
    verdict: tuple[Code, str] | None = None
    accepted: list[bool] = field(default_factory=list)

    def step(self, what: str, by: str | float) -> bool | None:
        """Take one step; what `reject` and `preempt` must answer."""
        before = self.verdict
        if what == "advance":
            self.now += float(by)
            plugin = min(self.pending, key=self.pending.__getitem__, default="")
            if before is None and self.pending[plugin] <= self.now:
                self.verdict = (Code.Unschedulable, plugin)
            return None
        plugin = str(by)
        if what == "allow":
            self.pending.pop(plugin, None)
            if before is None and not self.pending:
                self.verdict = (Code.Success, "")
            return None
        if before is None:
            self.verdict = (Code.Unschedulable if what == "reject" else Code.Error, plugin)
        return before is None


async def turns() -> None:
    """Let the wait notice what happened."""
    for _ in range(5):
        await asyncio.sleep(0)  # noqa: TID251 - lets the timer and the wait run


async def play(timeouts: dict[str, float], steps: list[tuple[str, str | float]]) -> None:
    clock = VirtualClock()
    model = Model(dict(timeouts), clock.now())
    model.pending = {plugin: model.now + seconds for plugin, seconds in timeouts.items()}
    waiting = WaitingPod(pod("p"), timeouts, clock)
    task = asyncio.ensure_future(waiting.verdict())
    await turns()
    for what, by in steps:
        if what == "advance":
            clock.advance(float(by))
            answer = None
        else:
            answer = getattr(waiting, what)(*([by] if what == "allow" else [by, "told so"]))
        await turns()
        assert answer == model.step(what, by)
        assert task.done() is (model.verdict is not None)
        if model.verdict is None:
            assert sorted(waiting.pending_plugins) == sorted(model.pending)
    if model.verdict is not None:
        status = task.result()
        assert (status.code if status else Code.Success, status.plugin if status else "") == model.verdict
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@given(timeouts=TIMEOUTS, steps=STEPS)
@settings(max_examples=60, deadline=None)
def test_the_first_verdict_counts(timeouts: dict[str, float], steps: list[tuple[str, str | float]]) -> None:
    """Allowed by all, rejected or preempted by one, or too late for one: whatever comes first."""
    asyncio.run(play(timeouts, steps))
