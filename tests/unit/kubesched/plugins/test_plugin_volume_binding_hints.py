"""Which events make VolumeBinding look at a waiting pod again."""

from __future__ import annotations

import pytest
from msgspec import structs
from plugin_world import World

from kubesched.api.volumes import CSIVolumeSource, Volume
from kubesched.framework import Hint
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import node, pod
from kubesched.testing.storage import DRIVER, capacity, claim, csi_driver, csi_node, storage_class, volume

BINDING = IN_TREE["VolumeBinding"]
UPDATE = ActionType.Update
POD = pod("p").claim("c").volume(Volume(name="inline", csi=CSIVolumeSource(driver=DRIVER)))
MIGRATED = structs.replace(
    csi_node("n"),
    metadata=structs.replace(
        csi_node("n").metadata,
        annotations={"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"},
    ),
)


@pytest.mark.parametrize(
    ("resource", "old", "new", "expected"),
    [
        pytest.param(Resource.StorageClass, None, storage_class("s"), Hint.Queue, id="a class"),
        pytest.param(
            Resource.StorageClass,
            storage_class("s"),
            storage_class("s", zones=("a",)),
            Hint.Queue,
            id="a class that provisions elsewhere",
        ),
        pytest.param(
            Resource.StorageClass,
            storage_class("s"),
            storage_class("s", provisioner="x"),
            Hint.Skip,
            id="a class that changes otherwise",
        ),
        pytest.param(Resource.PersistentVolumeClaim, None, claim("c"), Hint.Queue, id="its claim"),
        pytest.param(
            Resource.PersistentVolumeClaim, claim("c"), claim("c"), Hint.Queue, id="its claim again"
        ),
        pytest.param(Resource.PersistentVolumeClaim, None, claim("d"), Hint.Skip, id="another claim"),
        pytest.param(Resource.PersistentVolume, None, volume("v"), Hint.Queue, id="a volume"),
        pytest.param(Resource.PersistentVolume, volume("v"), volume("v"), Hint.Queue, id="a volume changes"),
        pytest.param(Resource.Node, None, node("n"), Hint.Queue, id="a node"),
        pytest.param(Resource.CSINode, None, csi_node("n"), Hint.Queue, id="a node's drivers"),
        pytest.param(Resource.CSINode, csi_node("n"), MIGRATED, Hint.Queue, id="a driver takes over disks"),
        pytest.param(Resource.CSINode, csi_node("n"), csi_node("n", 5), Hint.Skip, id="a limit is raised"),
        pytest.param(
            Resource.CSIDriver,
            csi_driver(),
            csi_driver(tracks_capacity=False),
            Hint.Queue,
            id="its driver no longer tracks capacity",
        ),
        pytest.param(
            Resource.CSIDriver,
            csi_driver(tracks_capacity=False),
            csi_driver(),
            Hint.Skip,
            id="its driver begins to track capacity",
        ),
        pytest.param(
            Resource.CSIDriver,
            csi_driver("x"),
            csi_driver("x", tracks_capacity=False),
            Hint.Skip,
            id="another driver no longer tracks capacity",
        ),
        pytest.param(Resource.CSIStorageCapacity, None, capacity("x", "1Gi"), Hint.Queue, id="room reported"),
        pytest.param(
            Resource.CSIStorageCapacity, capacity("x", "1Gi"), capacity("x", "2Gi"), Hint.Queue, id="more"
        ),
        pytest.param(
            Resource.CSIStorageCapacity, capacity("x", "2Gi"), capacity("x", "1Gi"), Hint.Skip, id="less"
        ),
        pytest.param(
            Resource.CSIStorageCapacity,
            capacity("x", "2Gi"),
            capacity("x", "3Gi", largest="1Gi"),
            Hint.Skip,
            id="more room, but for smaller volumes",
        ),
    ],
)
def test_hints(resource, old, new, expected):
    """What may bring or free volumes is worth an attempt."""
    action = ActionType.Add if old is None else UPDATE
    assert World(BINDING).hint(POD, resource, action, old, new) is expected
