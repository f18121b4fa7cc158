"""VolumeZone: a pod goes to the zones and regions of its bound volumes."""

from __future__ import annotations

import pytest
from plugin_world import World, reasons

from kubesched.framework import Hint
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import REGION, ZONE, node, pod
from kubesched.testing.storage import claim, storage_class, volume

VOLUME_ZONE = IN_TREE["VolumeZone"]
ELSEWHERE = ("node(s) had no available volume zone",)
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
POD = pod("p").claim("c")


def labelled(**labels):
    made = node("n")
    for key, value in labels.items():
        made = made.label({"zone": ZONE, "region": REGION, "beta": BETA_ZONE}[key], value)
    return made


@pytest.mark.parametrize(
    ("where", "labels", "fits"),
    [
        pytest.param(node("n"), {ZONE: "a"}, True, id="a node without zones may be anywhere"),
        pytest.param(node("n").label("uselessLabel"), {ZONE: "a"}, True, id="other labels say nothing"),
        pytest.param(labelled(zone="a"), {ZONE: "a"}, True, id="the same zone"),
        pytest.param(labelled(zone="b"), {ZONE: "a"}, False, id="another zone"),
        pytest.param(labelled(zone="b"), {ZONE: "a__b"}, True, id="one of the volume's zones"),
        pytest.param(labelled(zone="b"), {ZONE: "a__ b "}, True, id="blanks around a zone"),
        pytest.param(labelled(zone="c"), {ZONE: "a__b"}, False, id="none of the volume's zones"),
        pytest.param(
            labelled(zone="c"), {ZONE: "a____b"}, True, id="a label with an empty zone is passed over"
        ),
        pytest.param(
            labelled(region="r", zone="a"), {REGION: "r", ZONE: "b"}, False, id="region without zone"
        ),
        pytest.param(
            labelled(zone="a"), {REGION: "r"}, False, id="a node with a zone, but without the region"
        ),
        pytest.param(labelled(beta="a"), {BETA_ZONE: "a"}, True, id="the beta label on both"),
        pytest.param(labelled(zone="a"), {BETA_ZONE: "a"}, True, id="the beta label on the volume alone"),
        pytest.param(labelled(zone="b"), {BETA_ZONE: "a"}, False, id="the beta label and another zone"),
        pytest.param(
            labelled(zone="a", beta="b"),
            {BETA_ZONE: "a"},
            False,
            id="the node's beta label comes before the new one",
        ),
        pytest.param(labelled(beta="a"), {ZONE: "a"}, False, id="the beta label on the node alone"),
    ],
)
def test_labels(where, labels, fits):
    """Each zone or region label of a volume must be met by the node, if the node has any such label."""
    world = World(VOLUME_ZONE, where, claim("c", bound_to="v"), volume("v", labels=labels))
    assert reasons(world.rejections(POD)) == ({} if fits else {"n": ELSEWHERE})


REFUSED = Code.UnschedulableAndUnresolvable


@pytest.mark.parametrize(
    ("incoming", "objects", "code", "text"),
    [
        pytest.param(pod("p"), [], Code.Skip, "", id="no claims"),
        pytest.param(
            POD, [claim("c", bound_to="v"), volume("v")], Code.Skip, "", id="a volume without zones"
        ),
        pytest.param(
            pod("p").claim(""), [], REFUSED, "PersistentVolumeClaim had no name", id="a nameless claim"
        ),
        pytest.param(POD, [], REFUSED, 'persistentvolumeclaim "c" not found', id="a missing claim"),
        pytest.param(
            POD, [claim("c", bound_to="v")], REFUSED, 'persistentvolume "v" not found', id="a missing volume"
        ),
        pytest.param(
            POD,
            [claim("c", storage_class=None)],
            REFUSED,
            "PersistentVolumeClaim had no pv name and storageClass name",
            id="neither volume nor class",
        ),
        pytest.param(
            POD,
            [claim("c")],
            REFUSED,
            'storageclass.storage.k8s.io "standard" not found',
            id="a missing class",
        ),
        pytest.param(
            POD,
            [claim("c"), storage_class("standard", waits=False)],
            REFUSED,
            "PersistentVolume had no name",
            id="an unbound claim that waits for nobody",
        ),
        pytest.param(
            POD,
            [claim("c"), storage_class("standard")],
            Code.Skip,
            "",
            id="an unbound claim that waits for the pod",
        ),
    ],
)
def test_pre_filter(incoming, objects, code, text):
    """What keeps the volume from being found is said of no node in particular."""
    status = World(VOLUME_ZONE, node("n").in_zone("a"), *objects).pre_filter(incoming)
    assert (status.code, status.message) == (code, text)


@pytest.mark.parametrize(
    ("resource", "action", "old", "new", "expected"),
    [
        pytest.param(
            Resource.StorageClass,
            ActionType.Add,
            None,
            storage_class("s"),
            Hint.Queue,
            id="a class that waits",
        ),
        pytest.param(
            Resource.StorageClass,
            ActionType.Add,
            None,
            storage_class("s", waits=False),
            Hint.Skip,
            id="a class that does not wait",
        ),
        pytest.param(
            Resource.PersistentVolumeClaim,
            ActionType.Update,
            claim("c"),
            claim("c", bound_to="v"),
            Hint.Queue,
            id="its claim was bound",
        ),
        pytest.param(
            Resource.PersistentVolumeClaim, ActionType.Add, None, claim("d"), Hint.Skip, id="another claim"
        ),
        pytest.param(Resource.PersistentVolume, ActionType.Add, None, volume("v"), Hint.Queue, id="a volume"),
        pytest.param(
            Resource.PersistentVolume,
            ActionType.Update,
            volume("v", labels={ZONE: "a"}),
            volume("v", labels={ZONE: "b"}),
            Hint.Queue,
            id="a volume elsewhere",
        ),
        pytest.param(
            Resource.PersistentVolume,
            ActionType.Update,
            volume("v", labels={ZONE: "a"}),
            volume("v", labels={ZONE: "a", "x": "y"}),
            Hint.Skip,
            id="a volume where it was",
        ),
    ],
)
def test_hints(resource, action, old, new, expected):
    """What may change where the volumes are is worth an attempt."""
    assert World(VOLUME_ZONE).hint(POD, resource, action, old, new) is expected
