"""Preemptors are held back while their victims are being asked to leave, and never longer."""

from __future__ import annotations

from random import Random

from kubesched.clock import VirtualClock
from kubesched.config.gates import FeatureGates
from kubesched.framework import Handle
from kubesched.framework.preemptors import Preemptors
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import cluster, node, pod

VICTIMS = (pod("a").on("n"), pod("b").on("n"))


def state():
    return cluster(node("n"), *VICTIMS)


def test_a_preemptor_is_held_until_all_victims_are_asked():
    """A victim that is gone or terminates has been asked."""
    preemptors, held = Preemptors(), state()
    preemptors.begin(pod("p"), VICTIMS)
    assert preemptors.holds(pod("p"), held)
    held.apply(WatchEvent("DELETED", VICTIMS[0]))
    assert preemptors.holds(pod("p"), held)
    held.apply(WatchEvent("MODIFIED", VICTIMS[1].terminating()))
    assert not preemptors.holds(pod("p"), held)


def test_the_end_tells_whether_somebody_was_held():
    """Only a preemptor that was held back needs to be tried again."""
    preemptors, held = Preemptors(), state()
    preemptors.begin(pod("p"), VICTIMS)
    assert not preemptors.end("uid-p")
    preemptors.begin(pod("p"), VICTIMS)
    preemptors.holds(pod("p"), held)
    assert preemptors.end("uid-p")
    assert not preemptors.holds(pod("p"), held)


def test_victims_that_terminate_anyway_hold_nobody():
    """There is nothing to ask of them."""
    preemptors = Preemptors()
    preemptors.begin(pod("p"), [VICTIMS[0].terminating()])
    assert not preemptors.holds(pod("p"), state())


def test_pre_enqueue_of_default_preemption():
    """The plugin's PreEnqueue says why the pod waits; the gate switches it off."""
    for enabled, expected in (
        (True, "waiting for the preemption for this pod to be finished"),
        (False, None),
    ):
        gates = FeatureGates({"SchedulerAsyncPreemption": enabled})
        handle = Handle(state(), VirtualClock(), gates, Random(0))
        plugin = IN_TREE["DefaultPreemption"](None, handle)
        handle.preemptors.begin(pod("p"), VICTIMS)
        status = plugin.pre_enqueue(pod("p"))
        assert (status.message if status else None) == expected
