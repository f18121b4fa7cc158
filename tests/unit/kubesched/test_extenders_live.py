"""What extenders change in a scheduler's decisions, from the queue to the binding."""

from __future__ import annotations

import msgspec
import pytest
from aiohttp import web
from extender_world import service
from live import Live, running

from kubesched.config.defaults import default_configuration
from kubesched.config.types import Extender, ExtenderManagedResource
from kubesched.queue.entry import Place
from kubesched.schedule_one import schedule_one
from kubesched.testing.builders import node, pod


class World:
    """The core of a scheduler that asks extenders; its pods are tried one by one."""

    def __init__(self, *extenders, config=None) -> None:
        self.live = Live(config=config, extenders=extenders)
        self.extenders = extenders

    def put(self, *objects) -> None:
        self.live.put(*objects)
        self.live.scheduler.absorb()

    async def attempt(self, *objects):
        """Deliver objects and try the next pod."""
        self.put(*objects)
        entry = self.live.core.queue.pop(self.live.clock.now())
        try:
            return await schedule_one(self.live.core, entry)
        finally:
            for extender in self.extenders:
                await extender.close()


def three() -> list:
    return [node(f"n{index}").cpu(8).pods(10) for index in range(3)]


async def test_the_next_extender_hears_only_of_the_nodes_that_are_left():
    async with (
        service(filter=lambda said: {"NodeNames": ["n2", "n1"]}) as first,
        service(filter=lambda said: {"NodeNames": ["n1"], "FailedNodes": {"n2": "no"}}) as second,
    ):
        world = World(first.extender(node_cache_capable=True), second.extender(node_cache_capable=True))
        outcome = await world.attempt(*three(), pod("p"))
    assert outcome.node == "n1"
    assert second.asked[0][1]["NodeNames"] == ["n2", "n1"]


async def test_what_extenders_say_about_nodes_is_the_message_and_any_event_wakes_the_pod():
    answer = {"NodeNames": [], "FailedNodes": {"n0": "busy", "n2": "x"},
              "FailedAndUnresolvableNodes": {"n2": "no licence"}}  # fmt: skip
    async with service(filter=lambda _: answer) as ext:
        world = World(ext.extender(node_cache_capable=True))
        outcome = await world.attempt(*three(), pod("p"))
    assert outcome.message.startswith("0/3 nodes are available: 1 busy, 1 no licence.")
    assert outcome.entry.unschedulable_plugins == {"Extender"}
    world.live.clock.advance(30)
    world.put(node("n3").label("any", "change"))
    assert world.live.core.queue.where(outcome.pod.uid) is Place.ACTIVE


@pytest.mark.parametrize("ignorable", [True, False])
async def test_an_extender_that_fails_ends_the_attempt_unless_it_may(ignorable):
    async with service(filter=lambda _: web.Response(status=500)) as ext:
        world = World(ext.extender(ignorable=ignorable))
        outcome = await world.attempt(*three(), pod("p"))
    assert (outcome.node is not None) is ignorable
    if not ignorable:
        assert outcome.reason == "SchedulerError"
        assert outcome.message == f"failed filter with extender at URL {ext.url}/filter, code 500"


async def test_a_node_that_was_not_offered_is_refused():
    async with service(filter=lambda _: {"NodeNames": ["gone"]}) as ext:
        outcome = await World(ext.extender(node_cache_capable=True)).attempt(*three(), pod("p"))
    assert outcome.message == (
        f'extender "{ext.url}" claims a filtered node "gone" which is not found in the input node list'
    )


async def test_scores_count_times_weight_times_ten_and_add_up():
    async with (
        service(prioritize=lambda _: [{"Host": "n1", "Score": 9}, {"Host": "n2", "Score": 10}]) as one,
        service(prioritize=lambda _: [{"Host": "n1", "Score": 2}, {"Host": "gone", "Score": 10}]) as two,
        service(prioritize=lambda _: web.Response(status=500)) as broken,
    ):
        world = World(one.extender(weight=3), two.extender(weight=2), broken.extender())
        outcome = await world.attempt(*three(), pod("p"))
    assert outcome.node == "n1"
    own = dict(zip(outcome.scores.plugins, outcome.scores.points.tolist(), strict=True))
    assert own[one.url] == [0, 270, 300]
    assert own[two.url] == [0, 40, 0]
    assert own[broken.url] == [0, 0, 0]


async def test_a_nominated_node_that_an_extender_refuses_is_one_of_all():
    asked = []

    def only_n2(said):
        asked.append(said["NodeNames"])
        return {"NodeNames": [name for name in said["NodeNames"] if name == "n2"]}

    async with service(filter=only_n2) as ext:
        world = World(ext.extender(node_cache_capable=True))
        outcome = await world.attempt(*three(), pod("p").nominated_to("n0"))
    assert asked == [["n0"], ["n0", "n1", "n2"]]
    assert outcome.node == "n2"


async def test_more_than_one_feasible_node_is_looked_for_when_an_extender_chooses():
    """Without score plugins the first feasible node would do."""
    async with service(filter=lambda said: {"NodeNames": ["n2"]}) as ext:
        world = World(ext.extender(node_cache_capable=True))
        for framework in world.live.core.profiles.values():
            framework.scores = ()
        outcome = await world.attempt(*three(), pod("p"))
    assert outcome.node == "n2"


def crowded() -> list:
    """Three nodes that are full of pods of low priority; the first is the cheapest to preempt on."""
    low = [
        pod(f"low{i}")
        .on(f"n{i}")
        .cpu(8)
        .with_uid(f"u{i}")
        .started("2020-01-01T00:00:00Z")
        .with_priority(min(i, 1))
        for i in range(3)
    ]
    return [*three(), *low]


@pytest.mark.parametrize(
    ("reply", "nominated", "message"),
    [
        (lambda said: {"NodeNameToMetaVictims": {"n2": said["NodeNameToMetaVictims"]["n2"]}}, "n2", ""),
        (lambda said: {"NodeNameToMetaVictims": {}}, None, "preemption: no candidate node for preemption"),
        (
            lambda said: {"NodeNameToMetaVictims": {"n1": {"Pods": []}}},
            None,
            'preemption: expected at least one victim pod on node "n1"',
        ),
        (
            lambda said: {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "u2"}]}}},
            None,
            "claims to preempt pod (UID: &{u2}) on node: n1, but the pod is not found on that node",
        ),
        (
            lambda said: {"NodeNameToMetaVictims": {"gone": {"Pods": [{"UID": "u2"}]}}},
            None,
            'preemption: nodeinfo not found for node name "gone"',
        ),
    ],
    ids=["one is left", "none is left", "a node without victims", "somebody else's pod", "a strange node"],
)
async def test_extenders_choose_among_the_nodes_to_preempt_on(reply, nominated, message):
    async with service(preempt=reply) as ext:
        world = World(ext.extender(node_cache_capable=True))
        outcome = await world.attempt(*crowded(), pod("p").cpu(1).with_priority(9))
    assert outcome.nominated == nominated
    assert message in outcome.message
    assert [victim.name for victim in outcome.victims] == ([f"low{nominated[1]}"] if nominated else [])


async def test_an_ignorable_extender_that_reports_no_victims_drops_the_node():
    def reply(said):
        victims = said["NodeNameToMetaVictims"]
        return {"NodeNameToMetaVictims": {**victims, "n0": {"Pods": []}, "n1": None}}

    async with service(preempt=reply) as ext:
        world = World(ext.extender(node_cache_capable=True, ignorable=True))
        outcome = await world.attempt(*crowded(), pod("p").cpu(1).with_priority(9))
    assert outcome.nominated == "n2"


def test_resources_that_an_extender_manages_alone_are_not_counted():
    managed = (ExtenderManagedResource(name="example.com/fpga", ignored_by_scheduler=True),)
    config = msgspec.structs.replace(
        default_configuration(), extenders=(Extender(url_prefix="http://x", managed_resources=managed),)
    )
    world = World(config=config)
    world.put(*three(), pod("p").request("example.com/fpga", 1))
    entry = world.live.core.queue.pop(0)
    attempt = schedule_one(world.live.core, entry)
    with pytest.raises(StopIteration) as done:
        attempt.send(None)
    assert done.value.value.node


@pytest.mark.parametrize(
    ("reply", "ignorable", "bound", "reason"),
    [
        ({}, False, [], "Scheduled"),
        ({"Error": "the rack moves"}, False, [], "FailedScheduling"),
        ({"Error": "the rack moves"}, True, [("p", "n0")], "Scheduled"),
    ],
    ids=["binds", "refuses", "refuses and may"],
)
async def test_an_extender_that_binds_comes_before_the_plugins(reply, ignorable, bound, reason):
    async with service(bind=lambda _: reply) as ext:
        extender = ext.extender(ignorable=ignorable)
        async with running(extenders=(extender,)) as live:
            live.put(node("n0").cpu(8).pods(10), pod("p"))
            while not live.api.events:
                await live.settle(1)
        await extender.close()
    assert live.api.bound == bound
    [(name, why, note)] = live.api.events
    assert (name, why) == ("p", reason)
    assert "the rack moves" in note or reason == "Scheduled"
    assert ext.asked[0][1]["Node"] == "n0"
