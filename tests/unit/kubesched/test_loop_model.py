"""Any sequence of what can happen to a scheduler, in virtual time: it loses no pod and fills no node twice.

The driver is the API server: it remembers what is stored, carries out what the scheduler writes, and tells of
it late or at once.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.kubesched.live import Live, refused, running

from kubesched.queue.entry import Place
from kubesched.testing.builders import BuiltPod, node, pod

PODS = st.sampled_from("abcdef")
NODES = st.sampled_from("nm")
STEP = st.one_of(
    st.tuples(st.just("create"), PODS, st.integers(1, 4), st.integers(0, 2)),
    st.tuples(st.just("delete"), PODS),
    st.tuples(st.just("relabel"), PODS),
    st.tuples(st.just("join"), NODES, st.integers(2, 4)),
    st.tuples(st.just("leave"), NODES),
    st.tuples(st.just("refuse"), PODS),
    st.tuples(st.just("tell")),
    st.tuples(st.just("wait"), st.sampled_from([1.0, 3.0, 11.0])),
)


@dataclass
class World:
    """What is stored: pods as the watch last told of them, nodes by their cpu."""

    it: Live
    pods: dict[str, BuiltPod] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    version: int = 0

    def next(self) -> str:
        self.version += 1
        return str(self.version)

    def write(self, changed: BuiltPod) -> None:
        self.pods[changed.name] = stored = changed.version(self.next())
        self.it.put(stored)

    def bound_to(self, name: str) -> str:
        """Where the pod was bound last; the watch may not have told yet."""
        return next((at for who, at in reversed(self.it.api.bound) if who == name), "")

    def create(self, name: str, cpu: int, priority: int) -> None:
        if name not in self.pods:
            self.it.api.bound = [pair for pair in self.it.api.bound if pair[0] != name]
            self.write(pod(name).with_uid(f"{name}-{self.next()}").cpu(cpu).with_priority(priority))

    def delete(self, name: str) -> None:
        gone = self.pods.pop(name, None)
        if gone is not None:
            self.it.gone(gone.version(self.next()))

    def relabel(self, name: str) -> None:
        if name in self.pods:
            self.write(self.pods[name].label("turn", self.next()))

    def join(self, name: str, cpu: int) -> None:
        self.nodes[name] = cpu
        self.it.put(node(name).cpu(cpu).version(self.next()))

    def leave(self, name: str) -> None:
        if self.nodes.pop(name, None) is not None:
            self.it.gone(node(name).version(self.next()))

    def refuse(self, name: str) -> None:
        self.it.api.refuse[f"bind {name}"] = refused("not now")

    def tell(self) -> None:
        """Let the watch catch up: bindings are shown, and victims go."""
        for name in self.pods:
            if (at := self.bound_to(name)) and not self.pods[name].node_name:
                self.write(self.pods[name].on(at))
        for name in self.it.api.evicted:
            self.delete(name)
        self.it.api.evicted.clear()

    async def wait(self, seconds: float) -> None:
        self.it.api.refuse.clear()
        await self.it.pass_time(seconds)

    def check(self) -> None:
        """What must hold after every step."""
        core = self.it.core
        assert core.cluster.audit() == []
        for name, cpu in self.nodes.items():
            held = sum(p.requests["cpu"] for p in core.cluster.pods.on_node(core.cluster.nodes.slot[name]))
            assert held <= max(cpu, 4) * 1000
        stored = {known.uid: known for known in self.pods.values()}
        for uid, known in stored.items():
            placed = uid in core.cluster.pods.by_uid
            assert placed or core.queue.where(uid) is not None, f"{known} is nowhere"
        assert core.cluster.pods.by_uid.keys() <= stored.keys()
        assert {known.uid for known in core.cluster.nominated} <= stored.keys()
        pending = core.queue.pending()
        assert not pending.in_flight
        assert pending.in_flight_events == 0

    def check_end(self) -> None:
        """When nothing happens any more, whoever waits fits nowhere and may displace nobody."""
        core = self.it.core
        if not self.nodes:
            return
        for known in self.pods.values():
            if known.uid in core.cluster.pods.by_uid:
                continue
            assert core.queue.where(known.uid) is Place.UNSCHEDULABLE
            for name, cpu in self.nodes.items():
                slot = core.cluster.nodes.slot[name]
                stays = [p for p in core.cluster.pods.on_node(slot) if p.priority >= known.priority]
                free = cpu * 1000 - sum(p.requests["cpu"] for p in stays)
                assert known.requests["cpu"] > free, f"{known} has room on {name}"


async def play(steps: list[tuple]) -> None:
    async with running() as it:
        world = World(it)
        for what, *arguments in steps:
            done = getattr(world, what)(*arguments)
            if done is not None:
                await done
            await it.settle(30)
            world.check()
        for _ in range(6):
            world.tell()
            await it.settle(30)
            await world.wait(11)
            world.check()
        world.check_end()


@given(steps=st.lists(STEP, max_size=16))
@settings(max_examples=15, deadline=None)
def test_no_pod_is_lost_and_no_node_is_filled_twice(steps: list[tuple]) -> None:
    """Pods and nodes come and go, bindings fail, the watch lags; in the end everybody who fits is placed."""
    asyncio.run(play(steps))
