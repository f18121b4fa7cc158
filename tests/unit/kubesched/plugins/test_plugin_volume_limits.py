"""NodeVolumeLimits: a node takes only so many volumes of a driver."""

from __future__ import annotations

import pytest
from msgspec import structs
from plugin_world import World, reasons

from kubesched.api.base import ObjectMeta, OwnerReference
from kubesched.api.objects import VolumeAttachment
from kubesched.api.storage import VolumeAttachmentSource, VolumeAttachmentSpec
from kubesched.api.volumes import (
    AWSElasticBlockStore,
    AzureDisk,
    AzureFile,
    EphemeralVolumeSource,
    GCEPersistentDisk,
    Volume,
)
from kubesched.config.gates import FeatureGates
from kubesched.framework import Hint
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import node, pod
from kubesched.testing.storage import DRIVER, claim, csi_node, storage_class, volume

LIMITS = IN_TREE["NodeVolumeLimits"]
FULL = ("node(s) exceed max volume count",)
EBS = "ebs.csi.aws.com"


def stored(*names):
    """Bound claims and their volumes."""
    return [made for name in names for made in (claim(name, bound_to=f"v-{name}"), volume(f"v-{name}"))]


def attached(name, *, to, attacher=DRIVER):
    return VolumeAttachment(
        metadata=ObjectMeta(name=f"attach-{name}"),
        spec=VolumeAttachmentSpec(
            attacher=attacher, node_name=to, source=VolumeAttachmentSource(persistent_volume_name=name)
        ),
    )


def ephemeral(owner, name, uid=None):
    """The claim of a pod's ephemeral volume."""
    made = claim(f"{owner.name}-{name}", bound_to=f"v-{name}")
    ref = OwnerReference(kind="Pod", name=owner.name, uid=uid or owner.uid, controller=True)
    return structs.replace(made, metadata=structs.replace(made.metadata, owner_references=(ref,)))


def ebs(volume_id):
    return Volume(name="disk", aws_elastic_block_store=AWSElasticBlockStore(volume_id=volume_id))


SCRATCH = Volume(name="scratch", ephemeral=EphemeralVolumeSource())


@pytest.mark.parametrize(
    ("incoming", "objects", "fits"),
    [
        pytest.param(pod("p").claim("a"), [csi_node("n"), *stored("a")], True, id="a driver without a limit"),
        pytest.param(pod("p").claim("a"), stored("a"), True, id="a node without CSI"),
        pytest.param(pod("p").claim("a"), [csi_node("n", 0), *stored("a")], False, id="a limit of none"),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 2), pod("q").claim("b").on("n"), *stored("a", "b")],
            True,
            id="the last place",
        ),
        pytest.param(
            pod("p").claim("a").claim("c"),
            [csi_node("n", 2), pod("q").claim("b").on("n"), *stored("a", "b", "c")],
            False,
            id="one more than the last place",
        ),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 1), pod("q").claim("a").on("n"), *stored("a")],
            True,
            id="a volume that is there already",
        ),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 1, "other"), pod("q").claim("b").on("n"), *stored("a", "b")],
            True,
            id="another driver's limit",
        ),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 1), attached("v-b", to="n"), *stored("a", "b")],
            False,
            id="an attachment without a pod counts",
        ),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 2), pod("q").claim("b").on("n"), attached("v-b", to="n"), *stored("a", "b")],
            True,
            id="an attachment with a pod counts once",
        ),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 1), attached("v-b", to="m"), *stored("a", "b")],
            True,
            id="an attachment elsewhere",
        ),
        pytest.param(
            pod("p").claim("new"),
            [csi_node("n", 0), claim("new"), storage_class("standard")],
            False,
            id="a claim counts before it is bound",
        ),
        pytest.param(
            pod("p").claim("new"), [csi_node("n", 0), claim("new")], True, id="a class that nobody knows"
        ),
        pytest.param(
            pod("p").claim("new"),
            [
                csi_node("n", 0, EBS),
                claim("new"),
                storage_class("standard", provisioner="kubernetes.io/aws-ebs"),
            ],
            False,
            id="an in-tree provisioner counts as its driver",
        ),
        pytest.param(
            pod("p").claim("new"),
            [
                csi_node("n", 0),
                claim("new"),
                storage_class("standard", provisioner="kubernetes.io/azure-file"),
            ],
            True,
            id="an in-tree provisioner that is not counted",
        ),
        pytest.param(
            pod("p").volume(ebs("vol-1")),
            [csi_node("n", 1, EBS), pod("q").volume(ebs("aws://zone/vol-1")).on("n")],
            True,
            id="an in-tree disk is the same under both of its names",
        ),
        pytest.param(
            pod("p").volume(ebs("vol-1")),
            [csi_node("n", 1, EBS), pod("q").volume(ebs("vol-2")).on("n")],
            False,
            id="two in-tree disks",
        ),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 1), pod("q").claim("gone").on("n"), *stored("a")],
            True,
            id="a claim of another pod that is gone does not count",
        ),
        pytest.param(
            pod("p").volume(SCRATCH),
            [csi_node("n", 0), ephemeral(pod("p"), "scratch"), volume("v-scratch")],
            False,
            id="an ephemeral volume counts",
        ),
    ],
)
def test_limits(incoming, objects, fits):
    """New volumes fit beside those of the node's pods and attachments, each counted once."""
    assert reasons(World(LIMITS, node("n"), *objects).rejections(incoming)) == ({} if fits else {"n": FULL})


def test_a_pod_that_leaves_makes_room():
    """A what-if without the pod has its volume's place."""
    other = pod("q").claim("b").on("n")
    world = World(LIMITS, node("n"), csi_node("n", 1), other, *stored("a", "b"))
    assert world.passing(pod("p").claim("a")) == []
    assert world.rejections(pod("p").claim("a"), lambda view: view.remove([0], [[other]])) == {}


def test_a_missing_claim_is_named():
    """A pod whose claim is gone fits nowhere, and no eviction helps."""
    status = World(LIMITS, node("n")).rejections(pod("p").claim("c"))["n"]
    assert status.code is Code.UnschedulableAndUnresolvable
    assert status.message == 'looking up PVC default/c: persistentvolumeclaim "c" not found'


@pytest.mark.parametrize(
    ("incoming", "objects", "text"),
    [
        pytest.param(pod("p").claim(""), [], "PersistentVolumeClaim had no name", id="a nameless claim"),
        pytest.param(
            pod("p").volume(SCRATCH),
            [ephemeral(pod("p"), "scratch", uid="someone"), volume("v-scratch")],
            r"PVC default/p-scratch was not created for pod default/p \(pod is not owner\)",
            id="an ephemeral volume's claim that somebody else made",
        ),
        pytest.param(
            pod("p").volume(ebs("aws://zone/disk-1")),
            [csi_node("n")],
            r"converting volume\(disk\) from inline to csi: failed to translate "
            r"Kubernetes ID to EBS Volume ID "
            r"Invalid format for AWS volume \(aws://zone/disk-1\)",
            id="a disk that does not exist",
        ),
        pytest.param(
            pod("p").claim("a"),
            [csi_node("n", 1), pod("q").volume(ebs("aws://zone/disk-1")).on("n"), *stored("a")],
            r"converting volume\(disk\) from inline to csi: .*",
            id="a disk of a pod that is there and does not exist",
        ),
        pytest.param(
            pod("p").volume(Volume(name="d", azure_disk=AzureDisk(disk_uri="/d", kind="Dedicated"))),
            [csi_node("n")],
            r"converting volume\(d\) from inline to csi: kind\(Dedicated\) is not supported in csi migration",
            id="an Azure disk that no driver can take over",
        ),
    ],
)
def test_errors(incoming, objects, text):
    """What cannot be read ends the attempt with an error."""
    with pytest.raises(ValueError, match=f"^{text}$"):
        World(LIMITS, node("n"), *objects).rejections(incoming)


def test_without_drivers_nothing_is_translated():
    """On a node without a CSINode a disk that does not exist goes unnoticed, as upstream."""
    world = World(LIMITS, node("n"), pod("q").volume(ebs("aws://zone/disk-2")).on("n"), *stored("a"))
    assert world.rejections(pod("p").volume(ebs("aws://zone/disk-1"))) == {}
    assert world.rejections(pod("p").claim("a")) == {}


def test_pods_without_volumes_that_count_are_skipped():
    """Only claims and disks are counted."""
    world = World(LIMITS, node("n"))
    assert world.pre_filter(pod("p")).code is Code.Skip
    assert world.pre_filter(pod("p").volume(Volume(name="config"))).code is Code.Skip
    disk = Volume(gce_persistent_disk=GCEPersistentDisk(pd_name="a"))
    assert world.pre_filter(pod("p").volume(disk)) is None


def test_the_gate_that_is_not_built_is_refused():
    """A gate must not be silently without effect."""
    with pytest.raises(ValueError, match="VolumeLimitScaling is not built"):
        World(LIMITS, gates=FeatureGates({"VolumeLimitScaling": True}))


CLAIMING = pod("p").claim("a")


@pytest.mark.parametrize(
    ("resource", "action", "old", "new", "expected"),
    [
        pytest.param(
            Resource.CSINode, ActionType.Add, None, csi_node("n"), Hint.Queue, id="a node's drivers"
        ),
        pytest.param(
            Resource.CSINode,
            ActionType.Update,
            csi_node("n", 1),
            csi_node("n", 2),
            Hint.Queue,
            id="a higher limit",
        ),
        pytest.param(
            Resource.CSINode,
            ActionType.Update,
            csi_node("n", 2),
            csi_node("n", 1),
            Hint.Skip,
            id="a lower limit",
        ),
        pytest.param(
            Resource.CSINode,
            ActionType.Update,
            csi_node("n"),
            csi_node("n", 1),
            Hint.Queue,
            id="a limit at last",
        ),
        pytest.param(
            Resource.AssignedPod,
            ActionType.Delete,
            pod("q").claim("b").on("n"),
            None,
            Hint.Queue,
            id="a pod left",
        ),
        pytest.param(
            Resource.AssignedPod,
            ActionType.Delete,
            pod("q").on("n"),
            None,
            Hint.Skip,
            id="a pod without volumes left",
        ),
        pytest.param(
            Resource.AssignedPod,
            ActionType.Delete,
            pod("q").claim("b"),
            None,
            Hint.Skip,
            id="a waiting pod left",
        ),
        pytest.param(
            Resource.PersistentVolumeClaim, ActionType.Add, None, claim("a"), Hint.Queue, id="its claim"
        ),
        pytest.param(
            Resource.PersistentVolumeClaim, ActionType.Add, None, claim("b"), Hint.Skip, id="another claim"
        ),
        pytest.param(
            Resource.VolumeAttachment,
            ActionType.Delete,
            attached("v", to="n"),
            None,
            Hint.Queue,
            id="a detachment",
        ),
    ],
)
def test_hints(resource, action, old, new, expected):
    """What may leave room for the volumes is worth an attempt."""
    assert World(LIMITS).hint(CLAIMING, resource, action, old, new) is expected


@pytest.mark.parametrize(
    ("attacher", "expected"),
    [pytest.param(EBS, Hint.Queue, id="its driver"), pytest.param(DRIVER, Hint.Skip, id="another driver")],
)
def test_hint_on_a_detachment_for_an_in_tree_disk(attacher, expected):
    """A disk waits for its own driver only."""
    gone = attached("v", to="n", attacher=attacher)
    waiting = pod("p").volume(ebs("vol-1"))
    assert World(LIMITS).hint(waiting, Resource.VolumeAttachment, ActionType.Delete, gone) is expected


def test_hint_on_a_detachment_of_a_driver_whose_volumes_are_not_counted():
    """Upstream compares the driver's name before it asks whether the driver's volumes count."""
    share = pod("p").volume(Volume(name="f", azure_file=AzureFile(share_name="s")))
    gone = attached("v", to="n", attacher="file.csi.azure.com")
    assert World(LIMITS).hint(share, Resource.VolumeAttachment, ActionType.Delete, gone) is Hint.Queue
