"""`nodes`: fake machines join the cluster."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec import field as struct_field

from schedlab.api.objects import Json, Object
from schedlab.cluster import fleet as fleets
from schedlab.cluster import nodes as machines
from schedlab.history.history import History
from schedlab.operations.base import Action, Env, Met, NotYet, OperationError, Outcome, TimeoutKind
from schedlab.operations.resources import File, Resource, one
from schedlab.operations.selecting import condition, name_of, refs
from schedlab.suite.types import Positive

NOT_READY = "node.kubernetes.io/not-ready"
CORDONED = "node.kubernetes.io/unschedulable"
_PARALLEL = 16


class Nodes(Action):
    """Add fake machines and wait until they are Ready and the scheduler under test has seen them.

    A profile is a kind of machine from `manifests/nodes`, such as `h100x8`, `a100-mig` or `cpu-32`. Names are
    `PREFIX-0`, `PREFIX-1`, …; the prefix is `name`, or else `as`, or else the profile. `as` binds the list of
    names. The nodes of one test are all the nodes of the cluster, and gone when the test ends.

    ```yaml
    - nodes: {profile: cpu-32, count: 2, zones: [zone-a, zone-b]}
    - nodes: {profile: h100x8, labels: {pool: training}, taints: [{key: gpu, effect: NoSchedule}], as: gpu}
    - nodes: {profile: cpu-32, capacity: {cpu: "4", memory: 8Gi}, name: small, as: small}
    - nodes: {fleet: "2 racks x 18 gb200-nvl72, 6 h100x8 in 3 zones", as: all}   # see fleets.md
    ```
    """

    tag: ClassVar[str] = "nodes"
    timeout_kind: ClassVar[TimeoutKind] = "nodes"

    profile: Annotated[str | None, Meta(description="The kind of machine. This, `file` or `resource`.")] = (
        None
    )
    fleet: Annotated[
        str | None,
        Meta(description="Machines of several kinds in racks and zones, instead of everything else here."),
    ] = None
    file: File = None
    resource: Resource = None
    count: Annotated[Positive, Meta(description="How many.")] = 1
    name: Annotated[
        str | None, Meta(description="What the names begin with; the whole name if `count` is 1.")
    ] = None
    zones: Annotated[list[str], Meta(description="Zones that the nodes are dealt out over, in turn.")] = (
        struct_field(default_factory=list)
    )
    racks: Annotated[list[str], Meta(description="Racks that the nodes are dealt out over, in turn.")] = (
        struct_field(default_factory=list)
    )
    labels: Annotated[dict[str, str], Meta(description="Labels besides the profile's.")] = struct_field(
        default_factory=dict
    )
    taints: Annotated[
        list[dict[str, str]],
        Meta(description="Taints besides the profile's: `{key: …, value: …, effect: …}`."),
    ] = struct_field(default_factory=list)
    capacity: Annotated[
        dict[str, str], Meta(description="Resources instead of the profile's; allocatable in full.")
    ] = struct_field(default_factory=dict)
    unschedulable: Annotated[bool, Meta(description="Cordoned from the start.")] = False

    seen: Annotated[
        bool,
        Meta(
            description="Wait until the scheduler under test has seen the nodes. A probe pod comes and goes "
            "for that, which may wake pending pods: say false where a test is about being woken."
        ),
    ] = True

    async def run(self, env: Env, seconds: float) -> Json:
        """Create the nodes one after the other, so that their order is known, then wait for all.

        The order of a fleet is not known: its machines are created side by side.
        """
        if self.fleet is not None:
            names = await self._create_fleet(env, self.fleet)
        else:
            names = self._names()
            for index, name in enumerate(names):
                await env.writer.create(self._machine(env, index, name))
        await env.until(lambda history: settled(history, names, cordoned=self.unschedulable), seconds)
        if self.seen:
            await env.scheduler_has_seen(names[-1], seconds)
        return names

    async def _create_fleet(self, env: Env, text: str) -> list[str]:
        if self != Nodes(fleet=text, seen=self.seen, as_=self.as_, timeout=self.timeout):
            raise OperationError("`fleet` says everything about its nodes", hint="leave the other fields out")
        items = list(fleets.machines(fleets.parse(text)))
        free = asyncio.Semaphore(_PARALLEL)

        async def create(item: Object) -> None:
            async with free:
                await env.writer.create(item)

        await asyncio.gather(*(create(item) for item in items))
        return [name_of(item) for item in items]

    def _names(self) -> list[str]:
        if self.name is not None and self.count == 1:
            return [self.name]
        prefix = self.name or (self.as_ or "").lower().replace("_", "-") or self.profile or "node"
        return [f"{prefix}-{index}" for index in range(self.count)]

    def _machine(self, env: Env, index: int, name: str) -> Object:
        if self.profile is not None:
            return machines.render(
                self.profile,
                name,
                zone=self.zones[index % len(self.zones)] if self.zones else "",
                rack=self.racks[index % len(self.racks)] if self.racks else "",
                labels=self.labels,
                taints=self.taints,
                capacity=self.capacity,
                unschedulable=self.unschedulable,
            )
        if self.zones or self.racks or self.labels or self.taints or self.capacity:
            raise OperationError(
                "zones, racks, labels, taints and capacity go with `profile`", hint="put them in the file"
            )
        return as_fake(one(self.file, self.resource, env.scope, index=index), name)


def as_fake(item: Object, name: str) -> Object:
    """A Node object under a name of its own, marked for kwok; allocatable defaults to the capacity."""
    metadata = item.get("metadata") or {}
    annotations = {"kwok.x-k8s.io/node": "fake", **(metadata.get("annotations") or {})}
    labels = {"kubernetes.io/hostname": name, **(metadata.get("labels") or {})}
    status = dict(item.get("status") or {})
    status.setdefault("allocatable", status.get("capacity") or {})
    status.setdefault("addresses", [{"type": "InternalIP", "address": machines.internal_ip(name)}])
    return {
        **item,
        "metadata": {**metadata, "name": name, "annotations": annotations, "labels": labels},
        "status": status,
    }


def settled(history: History, names: list[str], *, cordoned: bool) -> Outcome:
    """Met once all nodes are Ready and carry those taints of the controllers that they should."""
    expected = f"{len(names)} nodes Ready and without the taint {NOT_READY}"
    for name in names:
        node = history.current.get("Node", name)
        if node is None:
            return NotYet(expected, f"{name} does not exist")
        keys = {taint["key"] for taint in (node.get("spec") or {}).get("taints") or []}
        ready = (condition(node, "Ready") or {}).get("status")
        if ready != "True" or NOT_READY in keys or (CORDONED in keys) != cordoned:
            seen = f"{name} has Ready={ready} and the taints {', '.join(sorted(keys)) or 'none'}"
            return NotYet(expected, seen, history.since(node), refs([node]))
    return Met(f"{len(names)} nodes Ready")
