"""VolumeRestrictions: disks and claims that cannot be shared."""

from __future__ import annotations

import pytest
from plugin_world import World, reasons

from kubesched.api.volumes import ISCSI, RBD, AWSElasticBlockStore, GCEPersistentDisk, Volume
from kubesched.framework import Hint
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import node, pod
from kubesched.testing.storage import claim

RESTRICTIONS = IN_TREE["VolumeRestrictions"]
NO_DISK = ("node(s) had no available disk",)
_TEXT = "node(s) unavailable due to PersistentVolumeClaim with {} access mode already in-use by another pod"
IN_USE = (_TEXT.format("ReadWriteOncePod"),)
ONCE_POD = claim("c", mode="ReadWriteOncePod")


def gce(name, *, read_only=False):
    return Volume(gce_persistent_disk=GCEPersistentDisk(pd_name=name, read_only=read_only))


def aws(volume_id, *, read_only=False):
    return Volume(aws_elastic_block_store=AWSElasticBlockStore(volume_id=volume_id, read_only=read_only))


def iscsi(iqn, *, read_only=False):
    return Volume(iscsi=ISCSI(target_portal="127.0.0.1:3260", iqn=iqn, read_only=read_only))


def rbd(*monitors, image="bar", pool="foo", read_only=False):
    return Volume(rbd=RBD(monitors=monitors, image=image, pool=pool, read_only=read_only))


@pytest.mark.parametrize(
    ("wanted", "used", "conflict"),
    [
        pytest.param(gce("a"), gce("b"), False, id="two GCE disks"),
        pytest.param(gce("a"), gce("a"), True, id="a GCE disk that is written"),
        pytest.param(gce("a", read_only=True), gce("a"), True, id="a GCE disk that the other writes"),
        pytest.param(
            gce("a", read_only=True), gce("a", read_only=True), False, id="a GCE disk that both read"
        ),
        pytest.param(aws("a"), aws("b"), False, id="two AWS disks"),
        pytest.param(
            aws("a", read_only=True), aws("a", read_only=True), True, id="an AWS disk, even if both read"
        ),
        pytest.param(iscsi("iqn.a:1"), iscsi("iqn.a:2"), False, id="two iSCSI names"),
        pytest.param(iscsi("iqn.a:1"), iscsi("iqn.a:1"), True, id="one iSCSI name"),
        pytest.param(
            iscsi("iqn.a:1", read_only=True),
            iscsi("iqn.a:1", read_only=True),
            False,
            id="iSCSI that both read",
        ),
        pytest.param(rbd("a", "b"), rbd("b", "c"), True, id="an RBD image with a common monitor"),
        pytest.param(rbd("a", "b"), rbd("c", "d"), False, id="RBD without a common monitor"),
        pytest.param(rbd("a"), rbd("a", image="other"), False, id="two RBD images"),
        pytest.param(rbd("a"), rbd("a", pool="other"), False, id="two RBD pools"),
        pytest.param(
            rbd("a", read_only=True), rbd("a", read_only=True), False, id="an RBD image that both read"
        ),
        pytest.param(gce("a"), aws("a"), False, id="disks of different kinds"),
    ],
)
def test_disks(wanted, used, conflict):
    """The same disk cannot be mounted twice on a node, but for reading."""
    world = World(RESTRICTIONS, node("n"), node("m"), pod("other").volume(used).on("n"))
    incoming = pod("p").volume(wanted)
    assert reasons(world.rejections(incoming)) == ({"n": NO_DISK} if conflict else {})
    gone = world.hint(incoming, Resource.AssignedPod, ActionType.Delete, pod("other").volume(used).on("n"))
    assert gone is (Hint.Queue if conflict else Hint.Skip)


def test_an_exclusive_claim_in_use_rejects_every_node():
    """ReadWriteOncePod means one pod in the whole cluster."""
    world = World(RESTRICTIONS, node("n"), node("m"), ONCE_POD, pod("other").claim("c").on("n"))
    assert reasons(world.rejections(pod("p").claim("c"))) == {"n": IN_USE, "m": IN_USE}


def test_evicting_its_user_frees_an_exclusive_claim():
    """A what-if without the user lets the pod in, so that preemption can help."""
    user = pod("other").claim("c").on("n")
    world = World(RESTRICTIONS, node("n"), node("m"), ONCE_POD, user)
    rejected = world.rejections(pod("p").claim("c"), lambda view: view.remove([0], [[user]]))
    assert reasons(rejected) == {"m": IN_USE}


@pytest.mark.parametrize(
    ("incoming", "objects", "code"),
    [
        pytest.param(pod("p"), [], Code.Skip, id="no volumes"),
        pytest.param(pod("p").claim("c"), [ONCE_POD], Code.Skip, id="an exclusive claim that nobody uses"),
        pytest.param(
            pod("p").claim("c"),
            [claim("c"), pod("other").claim("c").on("n")],
            Code.Skip,
            id="a claim to share",
        ),
        pytest.param(
            pod("p", "elsewhere").claim("c"),
            [ONCE_POD, pod("other").claim("c").on("n")],
            Code.UnschedulableAndUnresolvable,
            id="a claim of the same name in another namespace is another claim",
        ),
        pytest.param(
            pod("p").claim("c"),
            [ONCE_POD, pod("other").claim("c").on("ghost")],
            Code.Skip,
            id="a user on a node that is gone does not count",
        ),
    ],
)
def test_pre_filter(incoming, objects, code):
    """Pods without disks and without claims in use are skipped."""
    assert World(RESTRICTIONS, node("n"), *objects).pre_filter(incoming).code is code


def test_a_missing_claim_is_named():
    """Nothing can be said about a claim that is not there."""
    status = World(RESTRICTIONS, node("n")).pre_filter(pod("p").claim("c"))
    assert status.reasons == ('persistentvolumeclaim "c" not found',)


@pytest.mark.parametrize(
    ("resource", "action", "old", "new", "expected"),
    [
        pytest.param(
            Resource.AssignedPod,
            ActionType.Delete,
            pod("q").claim("c").on("n"),
            None,
            Hint.Queue,
            id="a user left",
        ),
        pytest.param(
            Resource.AssignedPod,
            ActionType.Delete,
            pod("q").claim("d").on("n"),
            None,
            Hint.Skip,
            id="another left",
        ),
        pytest.param(
            Resource.AssignedPod,
            ActionType.Delete,
            pod("q", "other").claim("c").on("n"),
            None,
            Hint.Skip,
            id="one of another namespace left",
        ),
        pytest.param(
            Resource.PersistentVolumeClaim, ActionType.Add, None, claim("c"), Hint.Queue, id="its claim"
        ),
        pytest.param(
            Resource.PersistentVolumeClaim, ActionType.Add, None, claim("d"), Hint.Skip, id="another claim"
        ),
        pytest.param(Resource.Node, ActionType.Add, None, node("m"), Hint.Queue, id="a node"),
    ],
)
def test_hints(resource, action, old, new, expected):
    """What may free a claim, or brings it, is worth an attempt."""
    assert World(RESTRICTIONS).hint(pod("p").claim("c"), resource, action, old, new) is expected
