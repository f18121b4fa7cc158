"""A whole scheduler without a network: the real core and loop, a virtual clock, an API of a few lines."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

import msgspec

from kubesched.api.objects import Object, Pod
from kubesched.client.errors import ApiError
from kubesched.client.intake import Change, Intake
from kubesched.client.known import Known
from kubesched.clock import VirtualClock
from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.config.types import Plugin, PluginSet
from kubesched.core import CoreOptions, build_core
from kubesched.framework.registry import Registry
from kubesched.metrics import Metrics
from kubesched.plugins.registry import registry
from kubesched.scheduler import Api, Scheduler


@dataclass
class FakeApi:
    """Takes what the scheduler writes, and refuses what a test wants refused."""

    bound: list[tuple[str, str]] = field(default_factory=list)
    patched: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    evicted: list[str] = field(default_factory=list)
    events: list[tuple[str, str, str]] = field(default_factory=list)
    refuse: dict[str, Exception] = field(default_factory=dict)
    hold: asyncio.Event | None = None

    # PodWriter

    async def bind(self, pod: Pod, node_name: str) -> None:
        if self.hold is not None:
            await self.hold.wait()
        if (error := self.refuse.get(f"bind {pod.name}")) is not None:
            raise error
        self.bound.append((pod.name, node_name))

    async def patch_status(self, pod, condition, nominated=None) -> None:
        if (error := self.refuse.get(f"patch {pod.name}")) is not None:
            raise error
        self.patched.append(
            (pod.name, condition and condition.reason, condition and condition.message, nominated)
        )

    async def delete(self, pod: Pod) -> None:
        if (error := self.refuse.get(f"delete {pod.name}")) is not None:
            raise error
        self.evicted.append(pod.name)

    # StatusPatches

    def submit(self, pod, condition, nominated=None) -> None:
        self.patched.append(
            (pod.name, condition and condition.reason, condition and condition.message, nominated)
        )

    async def idle(self) -> None:
        return None

    # EventRecorder

    def record(self, regarding: Object, *, severity, reason, action, note, controller, related=None) -> None:
        self.events.append((regarding.name, reason, note))


class Live:
    """A scheduler and its world."""

    def __init__(self, config=None, gates=None, may_write=None, plugins=None, extenders=()) -> None:
        self.clock = VirtualClock()
        self.intake = Intake(self.clock)
        self.api = FakeApi()
        self.metrics = Metrics()
        self.core = build_core(
            CoreOptions(
                config or default_configuration(),
                gates or FeatureGates(),
                plugins or registry(),
                writer=self.api,
                on_move=self.metrics.moved,
                extenders=extenders,
                measure=self.metrics,
                on_hint=self.metrics.hinted,
                on_preemption=self.metrics.preemption_attempts.inc,
            ),
            self.clock,
            Random(1),
        )
        self.scheduler = Scheduler(
            self.core,
            self.intake,
            Api(self.api, self.api, self.api),
            self.metrics,
            may_write=may_write,
        )
        self._known: dict[str, Known] = {}

    def put(self, *objects: Object) -> None:
        """Let the watches deliver objects, as new or changed."""
        for obj in objects:
            for change in self._known.setdefault(obj.kind, Known()).apply("MODIFIED", obj):
                self.intake.put(change)

    def gone(self, *objects: Object) -> None:
        """Let the watches deliver deletions."""
        for obj in objects:
            for change in self._known.setdefault(obj.kind, Known()).apply("DELETED", obj):
                self.intake.put(change)

    def raw(self, change: Change) -> None:
        """Let the watches deliver exactly this."""
        self.intake.put(change)

    async def settle(self, turns: int = 60) -> None:
        """Let everything run that can run without time passing."""
        for _ in range(turns):
            await asyncio.sleep(0)  # noqa: TID251 - lets the loop and its tasks run

    async def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds)
        await self.settle()

    def metric(self, name: str, **labels: str) -> float:
        """A sample's value, 0 if there is none."""
        return self.metrics.registry.get_sample_value(name, labels) or 0.0


@asynccontextmanager
async def running(**options):
    """A scheduler whose loop runs until the end of the block, and which must not have died."""
    live = Live(**options)
    task = asyncio.create_task(live.scheduler.run())
    try:
        yield live
    finally:
        died = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await live.scheduler.drain(0)
        assert not died, "the loop must not end"


def refused(message: str) -> ApiError:
    """What a write that is refused raises."""
    return ApiError(403, "Forbidden", message)


def with_plugin(plugin) -> dict:
    """Options of a scheduler whose default profile has one plugin more, before all others at Bind."""
    ours, config = registry(), default_configuration()
    plugins = Registry({**ours.factories, plugin.name: lambda _args, _handle: plugin}, ours.not_built)
    profile = config.profiles[0]
    multi = profile.plugins.multi_point
    more = PluginSet(enabled=(Plugin(name=plugin.name), *multi.enabled), disabled=multi.disabled)
    changed = msgspec.structs.replace(
        profile, plugins=msgspec.structs.replace(profile.plugins, multi_point=more)
    )
    return {"config": msgspec.structs.replace(config, profiles=(changed,)), "plugins": plugins}
