"""The binding cycle: its order, its failures, its cancellation."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.kubesched.live import FakeApi, Live, refused

from kubesched.binding import Bindings, Bound, Permitted, bind
from kubesched.framework.binding_points import PreFlights
from kubesched.framework.cycle import Cycle
from kubesched.framework.failure import PluginError
from kubesched.framework.prebinding_pods import PrebindingPods
from kubesched.framework.status import SKIP, Code, Status, error
from kubesched.schedule_one import Outcome
from kubesched.testing.builders import pod


class Framework:
    """The late half of a profile, noting what runs; `answers` replace what a point answers."""

    def __init__(self, flights: PreFlights | None = None, **answers) -> None:
        self.clock = Live().clock
        self.prebinding_pods = PrebindingPods()
        self.extenders = ()
        self.announces = True
        self.flights = flights or PreFlights(SKIP)
        self.answers = answers
        self.ran = []

    async def _run(self, point: str):
        self.ran.append(point)
        answer = self.answers.get(point)
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run_pre_bind_pre_flights(self, cycle, node):
        return self.flights

    async def wait_on_permit(self, cycle):
        return await self._run("permit")

    async def run_pre_bind(self, cycle, node, flights):
        return await self._run("pre_bind")

    async def run_bind(self, cycle, node):
        return await self._run("bind")

    async def run_post_bind(self, cycle, node):
        await self._run("post_bind")


WORK = PreFlights(None)


def outcome(framework: Framework, *, waits: dict | None = None) -> Outcome:
    cycle = Cycle(pod("a"), Live().core.cluster, framework=framework)
    return Outcome(pod("a"), None, cycle, node="n", waits=waits or {})


async def run(framework: Framework, api: FakeApi | None = None, **options):
    """What a binding hands over, and the API it wrote to."""
    put: list[object] = []
    api = api or FakeApi()
    await bind(outcome(framework, **options), api, put.append)
    return put, api


async def test_without_permit_and_prebind_only_bind_and_postbind_run():
    framework = Framework()
    put, api = await run(framework)
    assert framework.ran == ["bind", "post_bind"]
    assert [(type(item), item.status, item.waited) for item in put] == [(Bound, None, None)]
    assert api.patched == [], "a pod that is bound at once is not announced"


async def test_prebind_runs_between_and_the_pod_is_announced_first():
    framework = Framework(WORK)
    _, api = await run(framework)
    assert framework.ran == ["pre_bind", "bind", "post_bind"]
    assert api.patched == [("a", None, None, "n")]


async def test_without_the_gate_nothing_is_announced():
    framework = Framework(WORK)
    framework.announces = False
    put, api = await run(framework)
    assert framework.ran == ["pre_bind", "bind", "post_bind"]
    assert (api.patched, put[0].announced) == ([], False)


async def test_an_announcement_that_fails_does_not_matter():
    api = FakeApi(refuse={"patch a": refused("no")})
    framework = Framework(WORK)
    put, _ = await run(framework, api)
    assert framework.ran[-1] == "post_bind"
    assert not put[0].announced


async def test_a_pod_that_waits_is_announced_and_its_permission_is_told():
    framework = Framework()
    put, api = await run(framework, waits={"Gang": 5.0})
    assert framework.ran == ["permit", "bind", "post_bind"]
    assert isinstance(put[0], Permitted)
    assert put[1].waited == 0.0
    assert api.patched


REJECTED = Status(Code.Unschedulable, ("no",), "Gang")


@pytest.mark.parametrize(
    ("framework", "waits", "ran", "status"),
    [
        (Framework(PreFlights(error("bad flight"))), {}, [], error("bad flight")),
        (Framework(permit=REJECTED), {"Gang": 1.0}, ["permit"], REJECTED),
        (Framework(WORK, pre_bind=error("no volume")), {}, ["pre_bind"], error("no volume")),
        (Framework(bind=error("refused")), {}, ["bind"], error("refused")),
        (Framework(bind=PluginError("contract")), {}, ["bind"], error("contract")),
        (Framework(bind=ZeroDivisionError("oops")), {}, ["bind"], error("oops")),
        (Framework(bind=AssertionError()), {}, ["bind"], error("AssertionError")),
    ],
    ids=[
        "pre-flight",
        "permit",
        "pre-bind",
        "bind",
        "broken contract",
        "exception",
        "exception without a text",
    ],
)
async def test_the_first_failure_ends_it(framework, waits, ran, status):
    put, _ = await run(framework, waits=waits)
    assert framework.ran == ran
    assert put[-1].status == status
    assert put[-1].denied is (ran == ["permit"])
    assert put[-1].announced is ("permit" in ran or "pre_bind" in ran)


async def test_a_preemptor_can_call_a_pod_back_while_prebind_runs():
    framework = Framework(WORK, pre_bind=asyncio.Event())
    put: list[object] = []
    task = asyncio.create_task(bind(outcome(framework), FakeApi(), put.append))
    for _ in range(10):
        await asyncio.sleep(0)  # noqa: TID251 - lets the task get to PreBind
    assert framework.prebinding_pods.get(pod("a").uid).cancel("preempted by DefaultPreemption")
    await task
    assert put[0].status == error("preempted by DefaultPreemption")
    assert framework.ran == ["pre_bind"]
    assert framework.prebinding_pods.get(pod("a").uid) is None


async def test_a_binding_that_is_given_up_hands_nothing_over():
    framework = Framework(bind=asyncio.Event())
    put: list[object] = []
    bindings = Bindings(1)
    bindings.start(bind(outcome(framework), FakeApi(), put.append))
    assert bindings.full
    await asyncio.sleep(0)  # noqa: TID251 - lets the task begin
    bindings.cancel()
    await bindings.finish()
    assert put == []
    assert len(bindings) == 0
