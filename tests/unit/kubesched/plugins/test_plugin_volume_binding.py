"""VolumeBinding's Filter: where claims have their volumes, find them, or have them made."""

from __future__ import annotations

import pytest
from msgspec import structs
from plugin_world import World, reasons

from kubesched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.labels import LabelSelector, LabelSelectorRequirement
from kubesched.api.storage import VolumeNodeAffinity
from kubesched.api.volumes import EphemeralVolumeSource, GCEPersistentDisk, Volume
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.testing.builders import ZONE, node, pod
from kubesched.testing.storage import capacity, claim, csi_driver, csi_node, storage_class, volume

BINDING = IN_TREE["VolumeBinding"]
NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
NODES = (node("a").in_zone("a"), node("b").in_zone("b"))
POD = pod("p").claim("c")
BY_HAND = storage_class("standard", provisioner="kubernetes.io/no-provisioner")
MADE = storage_class("standard")
SELECTED = "volume.kubernetes.io/selected-node"


def rejected(incoming, *objects):
    return reasons(World(BINDING, *NODES, *objects).rejections(incoming))


@pytest.mark.parametrize(
    ("incoming", "objects", "expected"),
    [
        pytest.param(POD, [claim("c", bound_to="v"), volume("v")], {}, id="a volume that is everywhere"),
        pytest.param(
            POD,
            [claim("c", bound_to="v"), volume("v", zone="a")],
            {"b": (NODE_CONFLICT,)},
            id="a volume of one zone",
        ),
        pytest.param(
            POD.claim("d"),
            [
                claim("c", bound_to="v"),
                volume("v", zone="a"),
                claim("d", bound_to="w"),
                volume("w", zone="b"),
            ],
            {"a": (NODE_CONFLICT,), "b": (NODE_CONFLICT,)},
            id="volumes of different zones",
        ),
        pytest.param(
            POD,
            [claim("c", bound_to="v")],
            {"a": (NO_VOLUME,), "b": (NO_VOLUME,)},
            id="a volume that is gone",
        ),
        pytest.param(
            POD.claim("d"),
            [claim("c", bound_to="v"), volume("v", zone="a"), claim("d", bound_to="w")],
            {"a": (NO_VOLUME,), "b": (NODE_CONFLICT,)},
            id="the first claim that cannot be had has the say",
        ),
    ],
)
def test_bound_claims(incoming, objects, expected):
    """A bound volume's node affinity decides."""
    assert rejected(incoming, *objects) == expected


@pytest.mark.parametrize(
    ("objects", "fits"),
    [
        pytest.param([claim("c"), BY_HAND], "", id="no volume at all"),
        pytest.param([claim("c"), BY_HAND, volume("v")], "ab", id="a volume that is everywhere"),
        pytest.param([claim("c"), BY_HAND, volume("v", zone="b")], "b", id="a volume of one zone"),
        pytest.param([claim("c", size="2Gi"), BY_HAND, volume("v")], "", id="a volume that is too small"),
        pytest.param(
            [claim("c"), BY_HAND, volume("v", storage_class="other")], "", id="a volume of another class"
        ),
        pytest.param([claim("c"), BY_HAND, volume("v", mode="ReadWriteMany")], "", id="another access mode"),
        pytest.param(
            [claim("c"), BY_HAND, volume("v", phase="Released")], "", id="a volume that is not available"
        ),
        pytest.param([claim("c"), BY_HAND, volume("v", claimed_by="d")], "", id="a volume of another claim"),
        pytest.param(
            [claim("c"), BY_HAND, volume("v", claimed_by="c", mode="ReadOnlyMany", phase="Pending")],
            "ab",
            id="a volume set aside for the claim need not be available yet, nor of its access mode",
        ),
        pytest.param(
            [claim("c"), BY_HAND, volume("v", claimed_by="c", zone="a"), volume("w", zone="b")],
            "a",
            id="a claim gets the volume set aside for it or none",
        ),
        pytest.param(
            [claim("c", selector=LabelSelector(match_labels={"x": "y"})), BY_HAND, volume("v")],
            "",
            id="a volume without the labels that the claim selects",
        ),
        pytest.param(
            [
                claim("c", selector=LabelSelector(match_labels={"x": "y"})),
                BY_HAND,
                volume("v", labels={"x": "y"}),
            ],
            "ab",
            id="a volume with the labels that the claim selects",
        ),
        pytest.param(
            [
                claim("c"),
                BY_HAND,
                structs.replace(volume("v"), spec=structs.replace(volume("v").spec, volume_mode="Block")),
            ],
            "",
            id="a block device is no file system",
        ),
        pytest.param(
            [
                claim("c"),
                BY_HAND,
                structs.replace(
                    volume("v"),
                    metadata=structs.replace(volume("v").metadata, deletion_timestamp="2026-01-01T00:00:00Z"),
                ),
            ],
            "",
            id="a volume that is being deleted",
        ),
        pytest.param([claim("c"), MADE], "ab", id="a volume can be made everywhere"),
        pytest.param(
            [claim("c"), storage_class("standard", zones=("a",))], "a", id="a volume can be made in one zone"
        ),
        pytest.param(
            [claim("c"), storage_class("standard", zones=("a",)), volume("v", zone="b")],
            "ab",
            id="found in one zone, made in the other",
        ),
        pytest.param([claim("c", annotations={SELECTED: "b"}), MADE], "b", id="a claim promised to one node"),
        pytest.param(
            [claim("c", annotations={SELECTED: "gone"}), MADE],
            "",
            id="a claim promised to a node that is gone",
        ),
        pytest.param(
            [claim("c", annotations={SELECTED: "b"}), BY_HAND, volume("v")],
            "",
            id="a promised claim is no longer matched with volumes",
        ),
    ],
)
def test_a_claim_that_waits(objects, fits):
    """An unbound claim needs a volume that suits it, or one to be made."""
    expected = {name: (BIND_CONFLICT,) for name in "ab" if name not in fits}
    assert rejected(POD, *objects) == expected


@pytest.mark.parametrize(
    ("objects", "fits"),
    [
        pytest.param([volume("v")], "", id="one volume for two claims"),
        pytest.param([volume("v"), volume("w")], "ab", id="two volumes for two claims"),
        pytest.param([volume("v", zone="a"), volume("w", zone="b")], "", id="one volume in each zone"),
        pytest.param(
            [volume("v", zone="a", size="1Gi"), volume("w", zone="a", size="5Gi"), volume("x", zone="b")],
            "a",
            id="a small and a large volume in one zone",
        ),
    ],
)
def test_two_claims_that_wait(objects, fits):
    """No volume serves two claims, and the smaller claim leaves the larger volume to the larger one."""
    claims = [claim("c", size="5Gi"), claim("d", size="1Gi")]
    if len(objects) == 2:
        claims = [claim("c"), claim("d")]
    expected = {name: (BIND_CONFLICT,) for name in "ab" if name not in fits}
    assert rejected(POD.claim("d"), BY_HAND, *claims, *objects) == expected


def test_bound_and_waiting_claims_both_have_a_say():
    """A node may be wrong for two reasons, and both count in the message."""
    objects = [claim("c", bound_to="v"), volume("v", zone="a", claimed_by="c"), claim("d"), BY_HAND]
    assert rejected(POD.claim("d"), *objects) == {
        "a": (BIND_CONFLICT,),
        "b": (NODE_CONFLICT, BIND_CONFLICT),
    }


@pytest.mark.parametrize(
    ("objects", "fits"),
    [
        pytest.param([csi_driver()], "", id="nothing reported"),
        pytest.param([csi_driver(tracks_capacity=False)], "ab", id="a driver that does not track it"),
        pytest.param([], "ab", id="a driver that nobody knows"),
        pytest.param([csi_driver(), capacity("x", "10Gi", zone="a")], "a", id="enough in one zone"),
        pytest.param([csi_driver(), capacity("x", "10Gi")], "ab", id="enough everywhere"),
        pytest.param([csi_driver(), capacity("x", "4Gi")], "", id="too little"),
        pytest.param(
            [csi_driver(), capacity("x", "10Gi", largest="4Gi")], "", id="enough, but not for one volume"
        ),
        pytest.param(
            [csi_driver(), capacity("x", "10Gi", storage_class="y")], "", id="enough of another class"
        ),
    ],
)
def test_storage_capacity(objects, fits):
    """A driver that tracks capacity must have room for the volume that is to be made."""
    expected = {name: (NO_SPACE,) for name in "ab" if name not in fits}
    assert rejected(POD, claim("c", size="5Gi"), MADE, *objects) == expected


def test_a_capacity_without_topology_is_nowhere():
    """No topology means that no node has access."""
    nowhere = structs.replace(capacity("x", "10Gi"), node_topology=None)
    assert rejected(POD, claim("c"), MADE, csi_driver(), nowhere) == {"a": (NO_SPACE,), "b": (NO_SPACE,)}


REFUSED = Code.UnschedulableAndUnresolvable
SCRATCH = pod("p").volume(Volume(name="scratch", ephemeral=EphemeralVolumeSource()))
LOST = claim("c", bound_to="v")


@pytest.mark.parametrize(
    ("incoming", "objects", "code", "text"),
    [
        pytest.param(pod("p"), [], Code.Skip, "", id="no claims"),
        pytest.param(POD, [], REFUSED, 'persistentvolumeclaim "c" not found', id="a missing claim"),
        pytest.param(
            SCRATCH,
            [],
            REFUSED,
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"',
            id="an ephemeral volume's claim is on its way",
        ),
        pytest.param(
            SCRATCH,
            [claim("p-scratch")],
            REFUSED,
            "PVC default/p-scratch was not created for pod default/p (pod is not owner)",
            id="an ephemeral volume's claim is somebody else's",
        ),
        pytest.param(
            POD,
            [structs.replace(LOST, status=structs.replace(LOST.status, phase="Lost"))],
            REFUSED,
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
            id="a lost claim",
        ),
        pytest.param(
            POD,
            [
                structs.replace(
                    LOST, metadata=structs.replace(LOST.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
                )
            ],
            REFUSED,
            'persistentvolumeclaim "c" is being deleted',
            id="a claim that is going",
        ),
        pytest.param(
            POD,
            [claim("c"), storage_class("standard", waits=False)],
            REFUSED,
            "pod has unbound immediate PersistentVolumeClaims",
            id="a claim that should be bound by now",
        ),
        pytest.param(
            POD,
            [claim("c")],
            REFUSED,
            "pod has unbound immediate PersistentVolumeClaims",
            id="a class nobody knows",
        ),
        pytest.param(
            POD,
            [structs.replace(claim("c"), spec=structs.replace(claim("c").spec, volume_name="v")), MADE],
            REFUSED,
            "pod has unbound immediate PersistentVolumeClaims",
            id="a claim that names its volume is for the controller to bind",
        ),
        pytest.param(
            POD,
            [claim("c"), structs.replace(MADE, volume_binding_mode=None)],
            Code.Error,
            'VolumeBindingMode not set for StorageClass "standard"',
            id="a class without a binding mode",
        ),
    ],
)
def test_pre_filter(incoming, objects, code, text):
    """What no node can help is said at once."""
    status = World(BINDING, *NODES, *objects).pre_filter(incoming)
    assert (status.code, status.message) == (code, text)


def test_an_unreadable_selector_is_an_error():
    """A claim whose selector is nonsense cannot be decided."""
    nonsense = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="x", operator="Near", values=("y",)),)
    )
    with pytest.raises(ValueError, match=r"^error creating internal label selector for claim: default/c: "):
        rejected(POD, claim("c", selector=nonsense), BY_HAND, volume("v"))


@pytest.mark.parametrize(
    ("migrated", "fits"),
    [
        pytest.param("kubernetes.io/gce-pd", "a", id="taken over: the driver's label decides"),
        pytest.param("kubernetes.io/aws-ebs", "b", id="not taken over: the volume's own label decides"),
    ],
)
def test_an_in_tree_disk(migrated, fits):
    """Where a CSI driver has taken over a disk, its zone key replaces that of the volume."""
    gke = "topology.gke.io/zone"
    nodes = [node("a").label(gke, "z"), node("b").in_zone("z").label(gke, "y")]
    drivers = [csi_node(made.name) for made in nodes]
    taken_over = [
        structs.replace(
            made,
            metadata=structs.replace(
                made.metadata, annotations={"storage.alpha.kubernetes.io/migrated-plugins": migrated}
            ),
        )
        for made in drivers
    ]
    zonal = volume("v", zone="z")
    disk = structs.replace(
        zonal,
        spec=structs.replace(zonal.spec, csi=None, gce_persistent_disk=GCEPersistentDisk(pd_name="disk")),
    )
    world = World(BINDING, *nodes, *taken_over, claim("c", bound_to="v"), disk)
    assert world.passing(POD) == list(fits)


def test_fields_of_a_volumes_affinity_are_empty():
    """A volume's affinity is asked of a node's labels only, so that its name matches nothing."""
    term = NodeSelectorTerm(
        match_fields=(NodeSelectorRequirement(key="metadata.name", operator="In", values=("a",)),)
    )
    named = volume("v")
    affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))
    local = structs.replace(named, spec=structs.replace(named.spec, node_affinity=affinity))
    assert rejected(POD, claim("c", bound_to="v"), local) == {"a": (NODE_CONFLICT,), "b": (NODE_CONFLICT,)}


def test_zones_are_what_the_builders_say():
    """The tests above speak of zones by their usual label."""
    assert NODES[0].labels[ZONE] == "a"
