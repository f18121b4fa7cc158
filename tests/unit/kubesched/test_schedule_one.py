"""One attempt from the queue to its outcome: placed, rejected, refused, failed, skipped."""

from __future__ import annotations

from random import Random

import pytest

from kubesched.clock import VirtualClock
from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.config.types import Plugin, PluginSet
from kubesched.framework import Handle, Status, error, unschedulable
from kubesched.framework.profile import build
from kubesched.framework.registry import Registry
from kubesched.framework.status import Code
from kubesched.plugins.registry import registry
from kubesched.queue.entry import Place
from kubesched.queue.scheduling_queue import SchedulingQueue
from kubesched.schedule_one import Core, schedule_one, unbind
from kubesched.testing.builders import cluster, node, pod


class Late:
    """A plugin whose Reserve and Permit say what a test tells them."""

    name = "Late"

    def __init__(self):
        self.reserved = self.permitted = None
        self.wait = 0.0
        self.log = []

    def reserve(self, cycle, node_name):
        self.log.append(f"reserve {node_name}")
        return self.reserved

    def unreserve(self, cycle, node_name):
        self.log.append(f"unreserve {node_name}")

    def permit(self, cycle, node_name):
        return self.permitted, self.wait


class World:
    """A core under the default profile, with one more plugin."""

    def __init__(self, *objects, late=None, without=(), seed=0):
        self.clock = VirtualClock()
        self.cluster = cluster(*objects, clock=self.clock)
        self.late = late or Late()
        gates = FeatureGates()
        known = registry()
        everything = Registry({**known.factories, "Late": lambda _a, _h: self.late}, known.not_built)
        profile = default_configuration(gates).profiles[0]
        from msgspec.structs import replace

        enabled = tuple(p for p in profile.plugins.multi_point.enabled if p.name not in without)
        plugins = replace(profile.plugins, multi_point=PluginSet(enabled=(*enabled, Plugin(name="Late"))))
        handle = Handle(self.cluster, self.clock, gates, Random(seed))
        self.framework = build(replace(profile, plugins=plugins), everything, handle)
        name = self.framework.profile
        self.queue = SchedulingQueue(
            self.clock,
            {name: self.framework.hints},
            less=self.framework.queue_sort.less,
            pre_enqueue={name: self.framework.pre_enqueues},
        )
        self.core = Core(self.cluster, self.queue, {name: self.framework}, self.clock, Random(seed))

    async def attempt(self, waiting):
        self.queue.add(waiting)
        return await schedule_one(self.core, self.queue.pop(self.clock.now()))


async def test_a_pod_that_fits_is_assumed():
    """It holds its place at once, and its binding is to begin."""
    world = World(node("a"), node("b").cordoned())
    outcome = await world.attempt(pod("p").cpu(2))
    assert (outcome.node, outcome.assumed, outcome.message) == ("a", True, None)
    assert (outcome.evaluated, outcome.feasible) == (2, 1)
    assert world.cluster.is_assumed("uid-p")
    assert world.late.log == ["reserve a"]
    assert world.queue.where("uid-p") is Place.IN_FLIGHT


async def test_the_next_pod_sees_the_assumed_one():
    """What is assumed counts."""
    world = World(node("a").cpu(2))
    await world.attempt(pod("p").cpu(2))
    outcome = await world.attempt(pod("q").cpu(1))
    assert outcome.node is None
    assert outcome.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


async def test_a_pod_that_fits_nowhere_goes_back():
    """With the message, the reason, and those who rejected it."""
    world = World(node("a").taint("t"), node("b").cpu(1), node("c").cpu(1))
    outcome = await world.attempt(pod("p").cpu(2))
    assert outcome.message == (
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. "
        "no new claims to deallocate, preemption: 0/3 nodes are available: "
        "3 Preemption is not helpful for scheduling."
    )
    assert (outcome.reason, outcome.nominated, outcome.requeued) == ("Unschedulable", "", True)
    assert outcome.entry.unschedulable_plugins == {"TaintToleration", "NodeResourcesFit"}
    assert world.queue.where("uid-p") is Place.UNSCHEDULABLE


async def test_no_nodes():
    """An empty cluster rejects without anybody to blame."""
    world = World()
    outcome = await world.attempt(pod("p"))
    assert outcome.message == "no nodes available to schedule pods"
    assert (outcome.reason, outcome.nominated) == ("Unschedulable", "")
    assert outcome.entry.unschedulable_plugins == set()
    assert world.queue.where("uid-p") is Place.BACKOFF


async def test_an_unresolvable_pre_filter_leaves_no_preemption():
    """DynamicResources finds no state then, and its error ends PostFilter, as in the reference."""
    world = World(node("a"))
    conflict = pod("p").requires_node("metadata.name", "In", "a")
    from msgspec.structs import replace

    term = conflict.spec.affinity.node_affinity.required.node_selector_terms[0]
    twice = replace(term, match_fields=(*term.match_fields, replace(term.match_fields[0], values=("b",))))
    required = replace(conflict.spec.affinity.node_affinity.required, node_selector_terms=(twice,))
    affinity = replace(conflict.spec.affinity.node_affinity, required=required)
    spec = replace(conflict.spec, affinity=replace(conflict.spec.affinity, node_affinity=affinity))
    outcome = await world.attempt(replace(conflict, spec=spec).with_priority(9))
    assert outcome.message == "0/1 nodes are available: pod affinity terms conflict. not found"
    assert outcome.nominated is None


async def test_preemption_nominates():
    """The pod is nominated in memory before the API knows, and the victims are named."""
    world = World(node("a").cpu(2), pod("v").cpu(2).on("a"))
    displaced = pod("d").with_priority(1).nominated_to("a")
    world.cluster.nominated.add(displaced)
    outcome = await world.attempt(pod("p").cpu(2).with_priority(5))
    assert outcome.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert (outcome.nominated, [v.name for v in outcome.victims]) == ("a", ["v"])
    assert [d.name for d in outcome.displaced] == ["d"]
    assert world.cluster.nominated.node_of("uid-p") == "a"


async def test_without_post_filter_an_earlier_nomination_ends():
    """Nothing will make room."""
    world = World(node("a").cpu(1), without=("DynamicResources", "DefaultPreemption"))
    world.cluster.nominated.add(pod("p"), "a")
    outcome = await world.attempt(pod("p").cpu(2))
    assert outcome.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert outcome.nominated == ""
    assert world.cluster.nominated.node_of("uid-p") is None


async def test_assuming_ends_the_nomination():
    """The place is taken, not only kept."""
    world = World(node("a"))
    world.cluster.nominated.add(pod("p"), "a")
    await world.attempt(pod("p"))
    assert world.cluster.nominated.node_of("uid-p") is None


@pytest.mark.parametrize(
    ("attributes", "message", "reason", "blamed"),
    [
        pytest.param(
            {"reserved": unschedulable("full")},
            "0/1 nodes are available: 1 full.",
            "Unschedulable",
            {"Late"},
            id="Reserve rejects",
        ),
        pytest.param(
            {"permitted": unschedulable("no")},
            "0/1 nodes are available: 1 no.",
            "Unschedulable",
            {"Late"},
            id="Permit rejects",
        ),
        pytest.param(
            {"permitted": unschedulable()},
            "0/1 nodes are available:",
            "Unschedulable",
            {"Late"},
            id="Permit rejects without a reason",
        ),
        pytest.param(
            {"reserved": error("x")},
            'running Reserve plugin "Late": x',
            "SchedulerError",
            set(),
            id="Reserve fails",
        ),
        pytest.param(
            {"permitted": error("x")},
            'running Permit plugin "Late": x',
            "SchedulerError",
            set(),
            id="Permit fails",
        ),
    ],
)
async def test_a_late_refusal_undoes_everything(attributes, message, reason, blamed):
    """The pod is forgotten, unreserved and given back."""
    late = Late()
    for name, value in attributes.items():
        setattr(late, name, value)
    world = World(node("a"), late=late)
    outcome = await world.attempt(pod("p"))
    assert (outcome.node, outcome.message, outcome.reason) == (None, message, reason)
    assert (outcome.nominated, outcome.entry.unschedulable_plugins) == ("", blamed)
    assert late.log == ["reserve a", "unreserve a"]
    assert not world.cluster.is_assumed("uid-p")
    assert world.cluster.audit() == []


async def test_pending_is_remembered_apart():
    """A plugin on which the pod is pending wakes it without backoff."""
    late = Late()
    late.permitted = Status(Code.Pending, ("soon",))
    outcome = await World(node("a"), late=late).attempt(pod("p"))
    assert outcome.entry.pending_plugins == {"Late"}


async def test_a_pod_asked_to_wait_is_assumed_and_waits():
    """Its binding begins, and waits for the plugins."""
    late = Late()
    late.permitted, late.wait = Status(Code.Wait), 5.0
    world = World(node("a"), late=late)
    outcome = await world.attempt(pod("p"))
    assert (outcome.node, outcome.waits) == ("a", {"Late": 5.0})
    assert world.framework.will_wait_on_permit("uid-p")


async def test_a_plugin_that_raises_fails_the_attempt_only():
    """The pod backs off with reason SchedulerError, and nothing stays behind."""
    world = World(node("a"))

    class Buggy:
        name = "Buggy"

        def filter(self, cycle, view):
            raise ZeroDivisionError("one over none")

    world.framework.filters = [*world.framework.filters, Buggy()]
    outcome = await world.attempt(pod("p"))
    assert outcome.message == 'running "Buggy" filter plugin: one over none'
    assert (outcome.reason, outcome.node) == ("SchedulerError", None)
    assert world.queue.where("uid-p") is Place.BACKOFF
    assert world.cluster.audit() == []


@pytest.mark.parametrize(
    ("waiting", "prepare", "note"),
    [
        pytest.param(
            pod("p").terminating(),
            None,
            "skip schedule deleting pod: default/p",
            id="a pod that is being deleted",
        ),
        pytest.param(pod("p"), "assume", "", id="a pod that is assumed already"),
        pytest.param(pod("p").scheduler("other"), None, "", id="a pod of another scheduler"),
    ],
)
async def test_pods_that_are_not_tried(waiting, prepare, note):
    """They leave the queue, and only a deletion is remarked upon."""
    world = World(node("a"))
    if prepare:
        world.cluster.assume(waiting, "a")
    outcome = await world.attempt(waiting)
    assert outcome.skipped == note
    assert world.queue.where("uid-p") is None


async def test_unbind_frees_the_place_and_wakes_others():
    """A failed binding is an error: the pod backs off, and who waits for the room may try."""
    world = World(node("a").cpu(1))
    bound = await world.attempt(pod("p").cpu(1))
    await world.attempt(pod("q").cpu(1))
    assert world.queue.where("uid-q") is Place.UNSCHEDULABLE
    failed = unbind(world.core, bound, error("refused"))
    assert (failed.message, failed.reason, failed.nominated) == ("refused", "SchedulerError", "")
    assert world.late.log[-1] == "unreserve a"
    assert world.queue.where("uid-p") is Place.BACKOFF
    assert world.queue.where("uid-q") in (Place.ACTIVE, Place.BACKOFF)
    assert world.cluster.audit() == []


async def test_unbind_after_a_rejection_does_not_wake_the_pod_itself():
    """Its own departure is no news to it."""
    world = World(node("a").cpu(1))
    bound = await world.attempt(pod("p").cpu(1))
    denial = Status(Code.Unschedulable, ("no",), "NodeResourcesFit")
    failed = unbind(world.core, bound, denial, denied=True)
    assert failed.message == "0/1 nodes are available: 1 no."
    assert failed.entry.rejectors == {"NodeResourcesFit"}
    assert world.queue.where("uid-p") is Place.UNSCHEDULABLE


async def test_a_rejection_after_permit_blames_nobody():
    """PreBind and Bind come too late to wait for their events: the pod backs off as after an error."""
    world = World(node("a"))
    bound = await world.attempt(pod("p"))
    failed = unbind(world.core, bound, Status(Code.Unschedulable, ("taken",), "DynamicResources"))
    assert (failed.message, failed.reason) == ("taken", "Unschedulable")
    assert (failed.entry.rejectors, failed.entry.consecutive_errors) == (set(), 1)
    assert world.queue.where("uid-p") is Place.BACKOFF


async def test_a_pod_whose_binding_failed_before_its_wait_no_longer_waits():
    """A preemptor would call back what is not on its way any more, instead of evicting it."""
    late = Late()
    late.permitted, late.wait = Status(Code.Wait), 5.0
    world = World(node("a"), late=late)
    bound = await world.attempt(pod("p"))
    unbind(world.core, bound, error("pre-flight"))
    assert not world.framework.will_wait_on_permit("uid-p")


async def test_unbind_of_a_pod_that_the_api_shows_bound():
    """The lost answer was a success: nothing is taken away."""
    from kubesched.state.events import WatchEvent

    world = World(node("a"))
    bound = await world.attempt(pod("p"))
    world.cluster.apply(WatchEvent("ADDED", pod("p").on("a")))
    world.queue.delete(pod("p"))
    failed = unbind(world.core, bound, error("timeout"))
    assert not failed.requeued
    assert world.cluster.pods.slot_of("uid-p") is not None


async def test_ties_are_broken_by_the_seed():
    """Every best node is chosen under some seed, and each seed always chooses the same."""
    chosen = {
        seed: (await World(*(node(f"n{i}") for i in range(4)), seed=seed).attempt(pod("p"))).node
        for seed in range(20)
    }
    again = {
        seed: (await World(*(node(f"n{i}") for i in range(4)), seed=seed).attempt(pod("p"))).node
        for seed in range(3)
    }
    assert set(chosen.values()) == {f"n{i}" for i in range(4)}
    assert all(chosen[seed] == name for seed, name in again.items())


async def test_pods_to_activate_are_activated_after_the_cycle():
    """What a plugin asks for happens once the pod has its place."""
    world = World(node("a").cpu(1))
    await world.attempt(pod("big").cpu(2))

    class Waking(Late):
        def reserve(self, cycle, node_name):
            cycle.to_activate["uid-big"] = pod("big").cpu(2)

    world.framework.reserves = [Waking()]
    outcome = await world.attempt(pod("p"))
    assert world.queue.where("uid-big") is Place.ACTIVE
    assert outcome.cycle.to_activate == {}
