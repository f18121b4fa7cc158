"""The loop when pods make room for others, and when a binding takes its time."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.kubesched.live import running, with_plugin

from kubesched.framework.interface import PreFlight
from kubesched.framework.status import Code, Status, error
from kubesched.queue.entry import Place
from kubesched.testing.builders import node, pod


async def test_preemption_displaces_lower_nominations_and_waits_for_its_victims():
    """The lower pod loses its nomination; the preemptor is bound once the victim has left."""
    async with running() as it:
        victim = pod("victim").cpu("2").on("n")
        it.put(node("n").cpu("2"), victim)
        lower = pod("lower").cpu("2").with_priority(5).gate("hold")
        it.put(lower, lower.nominated_to("n").version("2"))
        await it.settle()
        it.put(pod("high").cpu("2").with_priority(10))
        await it.settle()
        assert it.api.evicted == ["victim"]
        assert ("lower", None, None, "") in it.api.patched
        it.gone(victim)
        await it.pass_time(2)
        assert it.api.bound == [("high", "n")]
        assert not it.core.profiles["default-scheduler"].preemptors.holds(pod("high"), it.core.cluster)


async def test_a_preemptor_is_held_back_while_its_victims_are_asked():
    """Another attempt would only find the victims that are about to leave."""
    async with running() as it:
        asked = asyncio.Event()
        it.api.delete, delete = (lambda victim: _after(asked, delete, victim)), it.api.delete
        it.put(node("n").cpu("2"), pod("victim").cpu("2").on("n"), pod("high").cpu("2").with_priority(10))
        await it.settle()
        high = pod("high").cpu("2").with_priority(10)
        it.core.queue.activate([high])
        assert it.core.queue.where(high.uid) is Place.GATED
        asked.set()
        await it.settle()
        assert it.core.queue.where(high.uid) is not Place.GATED


async def _after(event, work, *args):
    await event.wait()
    await work(*args)


class SlowStart:
    """A PreBind plugin that takes its time, and fails when a test says so."""

    name = "SlowStart"

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.answer: Status | None = None

    def pre_bind_pre_flight(self, cycle, node_name):
        return PreFlight()

    async def pre_bind(self, cycle, node_name):
        await self.go.wait()
        return self.answer


async def test_an_announcement_is_taken_back_also_before_the_watch_has_shown_it():
    """What differs is worked out against what the API was told, not against what was seen of it."""
    slow = SlowStart()
    slow.answer = error("no volume")
    async with running(**with_plugin(slow)) as it:
        submitted = []
        it.api.submit = lambda pod, _condition, nominated=None: submitted.append((pod, nominated))
        it.put(node("n"), pod("a"))
        await it.settle()
        assert it.api.patched == [("a", None, None, "n")]
        slow.go.set()
        await it.settle()
        ((known, nominated),) = submitted
        assert (known.nominated_node_name, nominated) == ("n", "")


async def test_victims_that_are_all_leaving_anyway_are_only_waited_for():
    """Nobody is asked, nobody else loses a nomination; the room comes by itself."""
    async with running() as it:
        victim = pod("victim").cpu("2").on("n").terminating()
        lower = pod("lower").cpu("2").with_priority(5).gate("hold")
        it.put(node("n").cpu("2"), victim, lower, lower.nominated_to("n").version("2"))
        await it.settle()
        it.put(pod("high").cpu("2").with_priority(10))
        await it.settle()
        assert [(name, nominated) for name, _, _, nominated in it.api.patched] == [("high", "n")]
        assert it.metric("scheduler_preemption_victims_count") == 0
        it.gone(victim)
        await it.pass_time(2)
        assert it.api.bound == [("high", "n")]


class HoldsLow:
    """Keeps the pod `low` on its way to its node, at Permit or in PreBind."""

    name = "HoldsLow"

    def __init__(self, point: str) -> None:
        self.point = point

    def permit(self, cycle, node_name):
        waits = self.point == "permit" and cycle.pod.name == "low"
        return (Status(Code.Wait), 60.0) if waits else (None, 0.0)

    def pre_bind_pre_flight(self, cycle, node_name):
        return PreFlight() if self.point == "pre_bind" and cycle.pod.name == "low" else Status(Code.Skip)

    async def pre_bind(self, cycle, node_name):
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ("permit", "waiting on permit for pod: preempted"),
        ("pre_bind", "preempted by DefaultPreemption"),
    ],
)
async def test_a_victim_that_is_only_on_its_way_is_called_back_and_its_place_is_free_at_once(point, told):
    """No request is made, no delete event will come; the preemptor must not wait for one."""
    async with running(**with_plugin(HoldsLow(point))) as it:
        it.put(node("n").cpu("2"), pod("low").cpu("2"))
        await it.settle()
        assert it.core.cluster.is_assumed("uid-low")
        it.put(pod("high").cpu("2").with_priority(10))
        await it.settle()
        await it.pass_time(2)
        assert (it.api.evicted, it.api.bound) == ([], [("high", "n")])
        assert ("low", "SchedulerError", told, "") in it.api.patched
        assert it.core.queue.where("uid-low") in (Place.BACKOFF, Place.UNSCHEDULABLE)
        assert it.core.cluster.audit() == []
