"""The loop as a whole: what is written, and that nothing stops it."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from tests.unit.kubesched.live import Live, refused, running, with_plugin

from kubesched.client.intake import Change
from kubesched.config.defaults import default_configuration
from kubesched.config.types import Plugins, Profile
from kubesched.framework.status import Code, Status
from kubesched.queue.entry import Place
from kubesched.testing.builders import node, pod

SUFFIX = " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


async def test_a_pod_is_bound_and_said_to_be():
    async with running() as it:
        it.put(node("n"), pod("a", "ns").cpu("1"))
        await it.settle()
        assert it.api.bound == [("a", "n")]
        assert it.api.events == [("a", "Scheduled", "Successfully assigned ns/a to n")]
        assert it.api.patched == []
        assert it.core.queue.where(pod("a", "ns").uid) is None
        assert it.core.cluster.is_assumed(pod("a", "ns").uid), "until the watch confirms it"
        it.put(pod("a", "ns").cpu("1").on("n").version("2"))
        await it.settle()
        assert not it.core.cluster.is_assumed(pod("a", "ns").uid)
        assert it.core.cluster.audit() == []


async def test_a_pod_that_does_not_fit_is_told_why_in_event_and_condition():
    async with running() as it:
        it.put(node("n").cpu("1"), pod("big").cpu("2"))
        await it.settle()
        ((_, reason, message, nominated),) = it.api.patched
        assert reason == "Unschedulable"
        assert message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert message.endswith(SUFFIX)
        assert it.api.events == [("big", "FailedScheduling", message)]
        assert nominated in {None, ""}
        assert it.core.queue.where(pod("big").uid) is Place.UNSCHEDULABLE


async def test_a_waiting_pod_wakes_when_a_node_comes():
    async with running() as it:
        it.put(pod("a"))
        await it.settle()
        assert it.api.events == [("a", "FailedScheduling", "no nodes available to schedule pods")]
        it.put(node("n"))
        await it.settle()
        await it.pass_time(2)
        assert it.api.bound == [("a", "n")]


async def test_a_waiting_pod_wakes_when_another_leaves():
    async with running() as it:
        holder = pod("holder").cpu("1").on("n")
        it.put(node("n").cpu("1"), holder, pod("a").cpu("1"))
        await it.settle()
        assert it.api.bound == []
        it.gone(holder)
        await it.settle()
        await it.pass_time(2)
        assert it.api.bound == [("a", "n")]


async def test_a_binding_that_fails_frees_the_place_and_the_pod_tries_again():
    async with running() as it:
        it.api.refuse["bind a"] = refused('pods "a" is forbidden')
        it.put(node("n"), pod("a").cpu("1"))
        await it.settle()
        ((_, reason, message, _),) = it.api.patched
        assert reason == "SchedulerError"
        assert 'pods "a" is forbidden' in message
        assert not it.core.cluster.is_assumed(pod("a").uid)
        assert it.core.queue.where(pod("a").uid) is Place.BACKOFF
        it.api.refuse.clear()
        await it.pass_time(2)
        assert it.api.bound == [("a", "n")]


async def test_others_are_scheduled_while_a_binding_hangs():
    async with running() as it:
        it.api.hold = asyncio.Event()
        it.put(node("n").cpu("2"), pod("a").cpu("1"), pod("b").cpu("1"), pod("c").cpu("1"))
        await it.settle()
        assert it.api.bound == []
        assert it.api.events[0][:2] == ("c", "FailedScheduling"), "a and b hold their places"
        it.api.hold.set()
        await it.settle()
        assert sorted(it.api.bound) == [("a", "n"), ("b", "n")]


async def test_a_pod_that_is_deleted_while_it_binds_frees_its_place_at_once():
    async with running() as it:
        it.api.hold = asyncio.Event()
        it.api.refuse["bind a"] = refused('pods "a" not found')
        it.put(node("n").cpu("1"), pod("a").cpu("1"), pod("b").cpu("1"))
        await it.settle()
        it.gone(pod("a").cpu("1").version("5"))
        await it.settle()
        assert not it.core.cluster.is_assumed(pod("a").uid)
        it.api.hold.set()
        await it.settle()
        await it.pass_time(2)
        assert it.api.bound == [("b", "n")]
        assert [name for name, *_ in it.api.patched] == ["b"], "nothing is written about a pod that is gone"
        assert it.core.queue.where(pod("a").uid) is None
        assert it.core.cluster.audit() == []


async def test_a_pod_bound_by_somebody_else_leaves_the_queue():
    async with running() as it:
        it.put(node("n").cpu("1"), pod("a").cpu("2"))
        await it.settle()
        it.put(pod("a").cpu("2").on("n").version("9"))
        await it.settle()
        assert it.core.queue.where(pod("a").uid) is None
        assert it.core.cluster.pods.by_uid[pod("a").uid].node_name == "n"


async def test_a_pod_for_another_scheduler_is_left_alone_but_counts_once_bound():
    async with running() as it:
        foreign = pod("foreign").cpu("1").scheduler("other")
        it.put(node("n").cpu("1"), foreign)
        await it.settle()
        assert it.core.queue.where(foreign.uid) is None
        it.put(foreign.on("n").version("2"), pod("a").cpu("1"))
        await it.settle()
        assert it.api.events[0][:2] == ("a", "FailedScheduling")


async def test_a_terminating_pod_is_not_scheduled():
    async with running() as it:
        it.put(node("n"), pod("a").terminating())
        await it.settle()
        assert it.api.bound == []
        assert it.api.events == [("a", "FailedScheduling", "skip schedule deleting pod: default/a")]
        assert it.core.queue.where(pod("a").uid) is None


async def test_a_gated_pod_waits_without_a_word():
    async with running() as it:
        it.put(node("n"), pod("a").gate("g"))
        await it.settle()
        assert (it.api.bound, it.api.events, it.api.patched) == ([], [], [])
        assert it.core.queue.where(pod("a").uid) is Place.GATED
        it.put(pod("a").version("2"))
        await it.settle()
        assert it.api.bound == [("a", "n")]


# Plugins that misbehave


class Raises:
    """A plugin that raises for the pod `bad`, at one extension point."""

    name = "Raises"

    def __init__(self, point: str) -> None:
        self.point = point

    def _maybe(self, point: str, cycle) -> None:
        if self.point == point and cycle.pod.name == "bad":
            raise ZeroDivisionError("division by zero")

    def filter_node(self, cycle, node):
        self._maybe("filter", cycle)

    def score_node(self, cycle, node):
        self._maybe("score", cycle)
        return 0

    def reserve(self, cycle, node_name):
        self._maybe("reserve", cycle)

    def unreserve(self, cycle, node_name):
        """Nothing was kept."""

    def pre_bind_pre_flight(self, cycle, node_name):
        return Status(Code.Skip)

    async def pre_bind(self, cycle, node_name):
        """Nothing to do."""

    async def bind(self, cycle, node_name):
        self._maybe("bind", cycle)
        return Status(Code.Skip)


@pytest.mark.parametrize("point", ["filter", "score", "reserve", "bind"])
async def test_a_plugin_that_raises_costs_one_pod_one_attempt(point):
    """One pod must never stop the loop (kubernetes/kubernetes#124930, #82796)."""
    async with running(**with_plugin(Raises(point))) as it:
        it.put(node("n"), node("m"), pod("bad"), pod("good"))
        await it.settle()
        assert [name for name, _ in it.api.bound] == ["good"]
        ((name, reason, message, _),) = it.api.patched
        assert (name, reason) == ("bad", "SchedulerError")
        assert "division by zero" in message
        assert it.core.queue.where(pod("bad").uid) is Place.BACKOFF
        assert not it.core.cluster.is_assumed(pod("bad").uid)


async def test_a_bug_in_the_core_costs_one_pod_one_attempt(monkeypatch):
    async with running() as it:
        assume = it.core.cluster.assume

        def broken(placed, node_name):
            if placed.name == "bad":
                raise KeyError("slot")
            return assume(placed, node_name)

        monkeypatch.setattr(it.core.cluster, "assume", broken)
        it.put(node("n"), pod("bad"), pod("good"))
        await it.settle()
        assert it.api.bound == [("good", "n")]
        assert it.api.patched == [("bad", "SchedulerError", "KeyError: 'slot'", None)]


async def test_a_change_that_cannot_be_taken_over_does_not_stop_the_others(caplog, monkeypatch):
    async with running() as it:
        apply = it.core.cluster.apply

        def broken(event):
            if event.object.name == "bad":
                raise OverflowError("too big")
            return apply(event)

        monkeypatch.setattr(it.core.cluster, "apply", broken)
        it.put(node("bad"), node("n"), pod("a"))
        await it.settle()
        assert it.api.bound == [("a", "n")]
        assert "Cannot take over a change" in caplog.text


# Leadership, stopping, bounds


async def test_a_replica_that_may_not_write_keeps_up_but_tries_nothing():
    leading = False
    async with running(may_write=lambda: leading) as it:
        it.put(node("n"), pod("a"))
        await it.settle()
        assert it.api.bound == []
        assert len(it.core.cluster.nodes) == 1
        leading = True
        await it.pass_time(0.2)
        assert it.api.bound == [("a", "n")]


async def test_stopping_waits_for_bindings_under_way_and_what_they_lead_to():
    async with running() as it:
        it.api.hold = asyncio.Event()
        it.put(node("n"), pod("a"))
        await it.settle()
        draining = asyncio.create_task(it.scheduler.drain(5))
        await it.settle()
        assert not draining.done()
        it.api.hold.set()
        await draining
        assert it.api.events == [("a", "Scheduled", "Successfully assigned default/a to n")]


async def test_stopping_gives_up_what_hangs():
    async with running() as it:
        it.api.hold = asyncio.Event()
        it.put(node("n"), pod("a"))
        await it.settle()
        await it.scheduler.drain(0.01)
        it.api.hold.set()
        await it.settle()
        assert it.api.bound == []


async def test_no_more_pods_are_tried_than_may_be_binding(monkeypatch):
    monkeypatch.setattr("kubesched.scheduler.MOST_BINDINGS", 2)
    async with running() as it:
        it.api.hold = asyncio.Event()
        it.put(node("n"), pod("a"), pod("b"), pod("c"))
        await it.settle()
        assert it.core.queue.where(pod("c").uid) is Place.ACTIVE
        it.api.hold.set()
        await it.settle()
        assert len(it.api.bound) == 3


async def test_what_does_not_belong_into_the_intake_is_a_programming_error():
    it = Live()
    it.intake.put("junk")
    with pytest.raises(TypeError, match="str"):
        it.scheduler.absorb()


# Metrics


async def test_attempts_are_counted_by_result():
    async with running() as it:
        it.api.refuse["bind bad"] = refused("no")
        it.put(
            node("n").cpu("3"), pod("ok").cpu("1"), pod("big").node_selector("a", "b"), pod("bad").cpu("1")
        )
        await it.settle()
        for result in ("scheduled", "unschedulable", "error"):
            labels = {"result": result, "profile": "default-scheduler"}
            assert it.metric("scheduler_schedule_attempts_total", **labels) == 1
            assert it.metric("scheduler_scheduling_attempt_duration_seconds_count", **labels) == 1
        assert it.metric("scheduler_scheduling_algorithm_duration_seconds_count") == 3
        assert it.metric("scheduler_pod_scheduling_attempts_sum") == 1
        assert it.metric("scheduler_pod_scheduling_sli_duration_seconds_count", attempts="1") == 1
        assert it.metric("scheduler_goroutines", operation="binding") == 0
        assert (
            it.metric("scheduler_queue_incoming_pods_total", queue="active", event="UnschedulablePodAdd") == 3
        )


async def test_events_are_observed_by_name():
    async with running() as it:
        it.put(node("n"), pod("a"))
        await it.settle()
        it.put(pod("a").on("n").version("2"))
        await it.settle()
        for event in ("NodeAdd", "UnschedulablePodAdd", "AssignedPodAdd"):
            assert it.metric("scheduler_event_handling_duration_seconds_count", event=event) == 1


async def test_gauges_are_read_off_the_state():
    async with running() as it:
        it.metrics.watch(lambda: it.core)
        it.put(node("n").cpu("1"), pod("a").cpu("1"), pod("big").cpu("9"), pod("g").gate("x"))
        await it.settle()
        assert it.metric("scheduler_pending_pods", queue="unschedulable") == 1
        assert it.metric("scheduler_pending_pods", queue="gated") == 1
        assert it.metric("scheduler_pending_pods", queue="active") == 0
        assert it.metric("scheduler_cache_size", type="nodes") == 1
        assert it.metric("scheduler_cache_size", type="assumed_pods") == 1
        labels = {"plugin": "NodeResourcesFit", "profile": "default-scheduler"}
        assert it.metric("scheduler_unschedulable_pods", **labels) == 1


async def test_a_second_profile_schedules_its_own_pods_under_its_own_name():
    profiles = (Profile(scheduler_name="default-scheduler"), Profile(scheduler_name="gpu", plugins=Plugins()))
    from kubesched.config.defaults import complete
    from kubesched.config.gates import FeatureGates

    config = complete(msgspec.structs.replace(default_configuration(), profiles=profiles), FeatureGates())
    async with running(config=config) as it:
        it.put(node("n"), pod("a").scheduler("gpu"))
        await it.settle()
        assert it.api.bound == [("a", "n")]
        labels = {"result": "scheduled", "profile": "gpu"}
        assert it.metric("scheduler_schedule_attempts_total", **labels) == 1


async def test_a_pod_whose_deletion_tells_of_a_binding_we_missed_is_gone_everywhere():
    """After a relist the last word about a pod may skip its binding."""
    async with running() as it:
        waiting = pod("a").cpu("9")
        it.put(node("n").cpu("1"), waiting)
        await it.settle()
        it.raw(Change("DELETED", waiting.on("n").version("8"), waiting))
        await it.settle()
        assert it.core.queue.where(waiting.uid) is None
        assert waiting.uid not in it.core.cluster.pods.by_uid
