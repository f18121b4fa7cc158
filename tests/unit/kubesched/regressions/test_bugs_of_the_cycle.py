"""Real bugs of the reference's scheduling and binding cycles, by their numbers in kubernetes/kubernetes."""

from __future__ import annotations

import asyncio

from tests.unit.kubesched.live import Live, refused, running

from kubesched.queue import Place
from kubesched.testing.builders import node, pod


async def test_k8s_49314_a_binding_that_fails_after_its_node_was_replaced_leaves_nothing_behind() -> None:
    """The pod could not be forgotten ("assumed on a different node") and was pending for ever."""
    async with running() as it:
        it.api.hold = asyncio.Event()
        it.api.refuse["bind a"] = refused("nodes n not found")
        it.put(node("n").cpu(1), pod("a").cpu(1))
        await it.settle()
        it.gone(node("n").cpu(1))
        it.put(node("m").cpu(1))
        await it.settle()
        it.api.hold.set()
        await it.settle()
        assert not it.core.cluster.is_assumed("uid-a")
        assert it.core.cluster.audit() == []
        it.api.refuse.clear()
        await it.pass_time(2)
        assert it.api.bound == [("a", "m")]


async def test_k8s_26043_a_late_word_about_a_bound_pod_does_not_start_another_attempt() -> None:
    """Bound, not yet confirmed: the watch still tells of the time before, and the pod is not placed twice."""
    async with running() as it:
        it.put(node("n"), node("m"), pod("a"))
        await it.settle()
        it.put(pod("a").label("x", "y").version("2"))
        await it.settle()
        assert it.core.queue.where("uid-a") is None
        it.core.queue.add(pod("a").label("x", "y").version("2"))
        it.put(node("o"))
        await it.settle()
        assert it.api.bound == [("a", it.core.cluster.pods.by_uid["uid-a"].node_name)]
        assert it.api.patched == []


async def test_k8s_124930_a_node_name_that_does_not_exist_harms_nobody() -> None:
    """The remainder by zero candidates ended the process, again after every restart."""
    async with running() as it:
        ghost = pod("ghost").requires_node("metadata.name", "In", "nowhere")
        it.put(node("n"), ghost, pod("good"))
        await it.settle()
        assert it.api.bound == [("good", "n")]
        ((name, reason, message, _),) = it.api.patched
        assert (name, reason) == ("ghost", "Unschedulable")
        assert message.startswith(
            "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
        )


async def test_k8s_106780_a_nomination_ends_when_no_eviction_helps_any_more() -> None:
    """The node was gone or its place was taken, and the room stayed reserved for a ghost."""
    async with running() as it:
        waiting = pod("p").cpu(2).with_priority(10).nominated_to("n")
        it.put(node("n").cpu(2), pod("equal").cpu(2).with_priority(10).on("n"), waiting)
        await it.settle()
        assert [(name, nominated) for name, _, _, nominated in it.api.patched] == [("p", "")]
        assert it.core.cluster.nominated.node_of("uid-p") is None


async def test_k8s_72124_a_nomination_counts_from_the_very_next_cycle() -> None:
    """The API had not told yet, and a lower pod took the room that had just been made."""
    async with running() as it:
        victim = pod("victim").cpu(2).on("n")
        it.put(node("n").cpu(2), victim, pod("high").cpu(2).with_priority(10))
        await it.settle()
        assert it.core.cluster.nominated.node_of("uid-high") == "n"
        it.put(pod("low").cpu(1).with_priority(5))
        it.gone(victim)
        await it.settle()
        await it.pass_time(2)
        assert it.api.bound == [("high", "n")]


async def test_k8s_95752_a_preemptor_is_not_tied_to_the_node_it_was_nominated_to() -> None:
    """Its victim never terminates; another node that becomes free will do as well."""
    async with running() as it:
        stuck = pod("stuck").cpu(2).on("n").terminating()
        other = pod("other").cpu(2).with_priority(99).on("m")
        high = pod("high").cpu(2).with_priority(10).nominated_to("n")
        it.put(node("n").cpu(2), node("m").cpu(2), stuck, other, high)
        await it.settle()
        assert it.api.bound == []
        it.gone(other)
        await it.settle()
        await it.pass_time(2)
        assert it.api.bound == [("high", "m")]


def test_k8s_60469_pods_of_other_schedulers_count_once_they_are_on_a_node() -> None:
    """A second scheduler that was blind to them went on to fill nodes that were full."""
    it = Live()
    theirs = pod("theirs").cpu(1).scheduler("other")
    it.put(node("n").cpu(1), theirs, theirs.on("n").version("2"))
    it.put(running := pod("more").cpu(1).scheduler("other").on("n"))
    it.scheduler.absorb()
    assert it.core.cluster.pods.by_uid.keys() == {theirs.uid, running.uid}


async def test_k8s_120622_a_pod_that_is_not_tried_is_not_kept_in_flight() -> None:
    """Its claim on events was never closed, so that every later event was kept."""
    async with running() as it:
        it.put(pod("a").terminating())
        await it.settle()
        it.put(node("n"))
        await it.settle()
        assert it.core.queue.where("uid-a") is not Place.IN_FLIGHT
        assert it.core.queue.pending().in_flight_events == 0
