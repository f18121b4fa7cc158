"""VolumeBinding after the choice: what is reserved, written, and waited for."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs
from plugin_world import World

from kubesched.config.args import UtilizationShapePoint, VolumeBindingArgs
from kubesched.config.gates import FeatureGates
from kubesched.framework import PreFlight
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import node, pod
from kubesched.testing.storage import capacity, claim, csi_driver, storage_class, volume

BINDING = IN_TREE["VolumeBinding"]
BY_HAND = storage_class("standard", provisioner="kubernetes.io/no-provisioner")
MADE = storage_class("standard")
POD = pod("p").claim("c")


def changed(obj, version, *, bound_to=None, **annotations):
    """A later version of an object, with more annotations, perhaps bound."""
    more = {**obj.annotations, **{key.replace("__", "/"): text for key, text in annotations.items()}}
    if bound_to:
        more["pv.kubernetes.io/bind-completed"] = "yes"
        obj = structs.replace(obj, spec=structs.replace(obj.spec, volume_name=bound_to))
    return structs.replace(
        obj, metadata=structs.replace(obj.metadata, resource_version=version, annotations=more)
    )


class Writes:
    """Stores what is written under the next version, as the API server would, and shows it at once."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.written = []

    async def update_volume(self, changed_volume):
        return self._store(changed_volume)

    async def update_claim(self, changed_claim):
        return self._store(changed_claim)

    def _store(self, obj):
        self.written.append(obj)
        stored = changed(obj, "2")
        self.cluster.apply(WatchEvent("MODIFIED", stored))
        return stored


class Late(World):
    """A world in which a pod gets as far as its binding."""

    def __init__(self, *objects, args=None):
        super().__init__(BINDING, node("n"), *objects, args=args)
        self.writes = self.handle.volume_writer = Writes(self.cluster)
        self.points = self.plugin.points

    def reserved(self, incoming):
        cycle = self.cycle(incoming)
        assert self.points["pre_filter"].pre_filter(cycle) is None
        assert not self.points["filter"].filter(cycle, self.view()).any()
        assert self.points["reserve"].reserve(cycle, "n") is None
        self.cluster.assume(incoming, "n")
        return cycle

    async def pre_bind(self, cycle, *events):
        """Begin PreBind, and let the events arrive soon after."""
        task = asyncio.ensure_future(self.points["pre_bind"].pre_bind(cycle, "n"))
        await self.passes(0.5)
        for event in events:
            self.cluster.apply(event)
            await self.passes(1)
        return task

    async def passes(self, seconds):
        """Let time pass, and whoever waits for it look."""
        for _ in range(5):
            await asyncio.sleep(0)  # noqa: TID251 - lets the task run
        self.handle.clock.advance(seconds)
        for _ in range(5):
            await asyncio.sleep(0)  # noqa: TID251 - lets the task run


def modified(obj):
    return WatchEvent("MODIFIED", obj)


async def test_a_volume_that_was_found_is_bound():
    """The volume is given to the claim, and the pod waits until the controller has finished."""
    world = Late(BY_HAND, claim("c"), volume("v"))
    cycle = world.reserved(POD)
    assert world.points["pre_bind"].pre_bind_pre_flight(cycle, "n") == PreFlight(parallel=True)
    task = await world.pre_bind(cycle)
    await world.passes(2)
    assert not task.done()
    [written] = world.writes.written
    ref = written.spec.claim_ref
    assert (ref.kind, ref.namespace, ref.name, ref.uid) == (
        "PersistentVolumeClaim",
        "default",
        "c",
        "uid-claim-c",
    )
    assert written.annotations == {"pv.kubernetes.io/bound-by-controller": "yes"}
    world.cluster.apply(modified(changed(claim("c"), "3", bound_to="v")))
    await world.passes(1)
    assert await task is None


async def test_a_volume_to_be_made_is_promised_to_the_node():
    """The claim is told the node; whoever provisions does the rest."""
    world = Late(MADE, claim("c"))
    cycle = world.reserved(POD)
    task = await world.pre_bind(cycle)
    await world.passes(2)
    [written] = world.writes.written
    assert written.annotations == {"volume.kubernetes.io/selected-node": "n"}
    assert not task.done()
    world.cluster.apply(WatchEvent("ADDED", volume("v", claimed_by="c")))
    world.cluster.apply(modified(changed(written, "3", bound_to="v")))
    await world.passes(1)
    assert await task is None


def test_what_is_reserved_is_not_free():
    """The next pod cannot have the volume; without the reservation it can."""
    world = Late(BY_HAND, claim("c"), claim("d"), volume("v"))
    cycle = world.reserved(POD)
    assert world.passing(pod("q").claim("d")) == []
    world.points["reserve"].unreserve(cycle, "n")
    assert world.passing(pod("q").claim("d")) == ["n"]


def test_a_claim_that_was_promised_stays_with_its_node():
    """Two pods of one claim go to the same node, even before the promise is written."""
    world = Late(MADE, claim("c"), node("m"))
    world.reserved(POD)
    assert world.passing(pod("q").claim("c")) == ["n"]


def test_a_newer_object_ends_what_was_assumed():
    """The watch has the last word."""
    world = Late(BY_HAND, claim("c"), claim("d"), volume("v"))
    world.reserved(POD)
    world.cluster.apply(modified(changed(volume("v"), "7")))
    assert world.passing(pod("q").claim("d")) == ["n"]


@pytest.mark.parametrize(
    ("incoming", "objects"),
    [
        pytest.param(pod("p"), [], id="no claims"),
        pytest.param(POD, [claim("c", bound_to="v"), volume("v")], id="all claims bound"),
    ],
)
def test_nothing_to_do(incoming, objects):
    """PreBind is skipped when nothing was reserved."""
    world = Late(*objects)
    cycle = world.cycle(incoming)
    world.points["pre_filter"].pre_filter(cycle)
    assert world.points["reserve"].reserve(cycle, "n") is None
    assert world.points["pre_bind"].pre_bind_pre_flight(cycle, "n").code is Code.Skip


GONE = pod("p").on("n")
PROMISED = changed(claim("c"), "2", **{"volume.kubernetes.io__selected-node": "n"})
NO_CLAIM = 'failed to check provisioning pvc: persistentvolumeclaim "default/c" not found'
NO_POD = 'pod does not exist any more: pod "p" not found'
NO_NODE = 'failed to get node "n": node "n" not found'
NO_VOLUME = 'failed to check binding: persistentvolume "v" not found'
ELSEWHERE = 'pv "far" node affinity doesn\'t match node "n": no matching NodeSelectorTerms'
FAR = volume("far", zone="elsewhere", claimed_by="c")
FOUND = [BY_HAND, volume("v")]


@pytest.mark.parametrize(
    ("objects", "event", "text"),
    [
        pytest.param([MADE], WatchEvent("DELETED", claim("c")), NO_CLAIM, id="the claim is deleted"),
        pytest.param(
            [MADE],
            modified(changed(claim("c"), "3")),
            'selectedNode annotation reset for PVC "c"',
            id="all annotations are taken back",
        ),
        pytest.param(
            [MADE],
            modified(changed(claim("c"), "3", x="y")),
            'provisioning failed for PVC "c"',
            id="the promise is taken back",
        ),
        pytest.param(
            [MADE, FAR],
            modified(changed(PROMISED, "3", bound_to="far")),
            ELSEWHERE,
            id="a volume out of reach",
        ),
        pytest.param([MADE], WatchEvent("DELETED", GONE), NO_POD, id="the pod is deleted"),
        pytest.param([MADE], WatchEvent("DELETED", node("n")), NO_NODE, id="the node is deleted"),
        pytest.param(
            FOUND,
            modified(changed(volume("v"), "3")),
            'ClaimRef got reset for pv "v"',
            id="the volume is taken back",
        ),
        pytest.param(FOUND, WatchEvent("DELETED", volume("v")), NO_VOLUME, id="the volume is deleted"),
    ],
)
async def test_failures(objects, event, text):
    """Whatever makes binding impossible ends the attempt, so that the pod is tried anew."""
    world = Late(claim("c"), *objects)
    task = await world.pre_bind(world.reserved(POD), event)
    status = await task
    assert (status.code, status.message) == (Code.Error, f"binding volumes: {text}")


async def test_binding_takes_no_longer_than_configured():
    """After the timeout the pod is tried anew."""
    world = Late(MADE, claim("c"), args=VolumeBindingArgs(bind_timeout_seconds=5))
    task = await world.pre_bind(world.reserved(POD))
    await world.passes(4)
    assert not task.done()
    await world.passes(1)
    assert (await task).message == "binding volumes: context deadline exceeded"


async def test_without_a_writer_nothing_is_bound():
    """Whoever cannot write volumes must not go on as if they were bound."""
    world = Late(MADE, claim("c"))
    world.handle.volume_writer = None
    task = await world.pre_bind(world.reserved(POD))
    assert (await task).message == "this scheduler writes no volumes"


def test_state_that_moved_ends_the_attempt():
    """An object that changed between Filter and Reserve is not assumed over."""
    world = Late(BY_HAND, claim("c"), volume("v"))
    cycle = world.cycle(POD)
    world.points["pre_filter"].pre_filter(cycle)
    world.cluster.apply(modified(changed(volume("v"), "7")))
    status = world.points["reserve"].reserve(cycle, "n")
    assert (status.code, status.message) == (Code.Error, '"v" is out of sync (stored: 7, assume: 1)')


SHAPE = VolumeBindingArgs(
    shape=(UtilizationShapePoint(utilization=0, score=0), UtilizationShapePoint(utilization=100, score=10))
)
ZONES = (node("a").in_zone("a"), node("b").in_zone("b"), node("c").in_zone("c"))


def scored(*objects, incoming=POD, gate=True):
    gates = FeatureGates({"StorageCapacityScoring": True}) if gate else None
    return World(BINDING, *ZONES, *objects, args=SHAPE, gates=gates).scores(incoming)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param(
            [
                BY_HAND,
                volume("v", zone="a", size="100Gi"),
                volume("w", zone="b", size="60Gi"),
                volume("x", zone="c", size="30Gi"),
            ],
            {"a": 30, "b": 50, "c": 100},
            id="the fuller an existing volume, the better",
        ),
        pytest.param(
            [
                MADE,
                csi_driver(),
                capacity("v", "300Gi", zone="a"),
                capacity("w", "40Gi", zone="b"),
                capacity("x", "30Gi", zone="c"),
            ],
            {"a": 10, "b": 75, "c": 100},
            id="the fuller the storage, the better",
        ),
        pytest.param([MADE], {"a": 0, "b": 0, "c": 0}, id="without known capacity all are alike"),
    ],
)
def test_scores_behind_the_gate(objects, expected):
    """The shape turns the use of storage into points."""
    assert scored(claim("c", size="30Gi"), *objects) == expected


def test_without_the_gate_storage_is_not_scored():
    """The gate is off by default, and the plugin leaves the ranking alone."""
    assert scored(claim("c"), MADE, gate=False) is None
