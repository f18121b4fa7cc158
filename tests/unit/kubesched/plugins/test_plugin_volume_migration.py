"""In-tree volumes as the CSI drivers that have taken them over know them."""

from __future__ import annotations

import pytest
from msgspec import structs
from plugin_world import World

from kubesched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.objects import convert
from kubesched.api.storage import PersistentVolumeSpec, VolumeNodeAffinity
from kubesched.api.volumes import (
    AWSElasticBlockStore,
    AzureDisk,
    AzureFile,
    Cinder,
    GCEPersistentDisk,
    PortworxVolume,
    Volume,
    VsphereVolume,
)
from kubesched.plugins.registry import IN_TREE
from kubesched.plugins.volumes.migration import counted_driver, identity, plugin_of
from kubesched.plugins.volumes.translated import translated_affinity
from kubesched.testing.builders import ZONE, node, pod
from kubesched.testing.storage import claim, csi_node, volume

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION, REGION = "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"
GOOGLE = {"gce_persistent_disk": GCEPersistentDisk(pd_name="d")}
AMAZON = {"aws_elastic_block_store": AWSElasticBlockStore(volume_id="aws://z/vol-1")}
AZURE = {"azure_disk": AzureDisk(disk_uri="/subscriptions/x/d", kind="Managed")}
CINDER = {"cinder": Cinder(volume_id="c-1")}
PORTWORX = {"portworx_volume": PortworxVolume(volume_id="p-1")}
SHARE = {"azure_file": AzureFile(share_name="s")}
VSPHERE = {"vsphere_volume": VsphereVolume(volume_path="[ds] x.vmdk")}


@pytest.mark.parametrize(
    ("source", "plugin", "expected"),
    [
        pytest.param(
            GOOGLE,
            "gce-pd",
            ("pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
            id="Google",
        ),
        pytest.param(AMAZON, "aws-ebs", ("ebs.csi.aws.com", "vol-1"), id="Amazon"),
        pytest.param(AZURE, "azure-disk", ("disk.csi.azure.com", "/subscriptions/x/d"), id="Azure disk"),
        pytest.param(CINDER, "cinder", ("cinder.csi.openstack.org", "c-1"), id="Cinder"),
        pytest.param(PORTWORX, "portworx-volume", ("pxd.portworx.com", "p-1"), id="Portworx"),
        pytest.param(SHARE, "azure-file", None, id="Azure file: not counted"),
        pytest.param(VSPHERE, "vsphere-volume", None, id="vSphere: not counted"),
        pytest.param({}, None, None, id="no disk"),
    ],
)
def test_a_disk_has_a_driver_and_a_handle(source, plugin, expected):
    """As the plugin of csi-translation-lib gives them, of a pod's volume and of a persistent one."""
    for made in (Volume(name="v", **source), PersistentVolumeSpec(**source)):
        assert plugin_of(made) == (f"kubernetes.io/{plugin}" if plugin else None)
        assert identity(made, {}) == expected
    if plugin:
        assert counted_driver(f"kubernetes.io/{plugin}") == (expected[0] if expected else "")


def test_provisioners_that_are_no_plugin_are_drivers():
    """A CSI driver provisions under its own name."""
    assert counted_driver("csi.example.com") == "csi.example.com"


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        pytest.param({ZONE: "us-east1-b"}, "zones/us-east1-b", id="one zone"),
        pytest.param({BETA_ZONE: "us-east1-c", ZONE: "us-east1-b"}, "zones/us-east1-c", id="the beta label"),
        pytest.param({ZONE: "us-east1-b__us-east1-c"}, "regions/us-east1", id="zones of a region"),
        pytest.param({ZONE: ""}, "zones/UNSPECIFIED", id="an empty label"),
    ],
)
def test_a_google_disk_is_where_its_labels_say(labels, place):
    """Zonal by one zone, regional by several."""
    made = PersistentVolumeSpec(**GOOGLE)
    assert identity(made, labels) == ("pd.csi.storage.gke.io", f"projects/UNSPECIFIED/{place}/disks/d")


@pytest.mark.parametrize(
    ("source", "labels", "text"),
    [
        pytest.param(
            GOOGLE,
            {ZONE: "a-b__a-c"},
            r"^failed to get region from zones: zone in unexpected format",
            id="zones without a region",
        ),
        pytest.param(
            GOOGLE,
            {ZONE: "us-east1-b__us-west1-b"},
            r"multiple or no regions gotten from zones, got: map\[us-east1:\{\} us-west1:\{\}\]",
            id="zones of two regions",
        ),
        pytest.param(
            {"azure_disk": AzureDisk(disk_uri="d", kind="Shared")},
            {},
            r"^kind\(Shared\) is not supported in csi migration$",
            id="an Azure disk without a driver",
        ),
    ],
)
def test_what_cannot_be_translated_says_why(source, labels, text):
    """In upstream's words."""
    with pytest.raises(ValueError, match=text):
        identity(PersistentVolumeSpec(**source), labels)


def persistent(source, *expressions, **labels):
    """An in-tree persistent volume with an affinity of one term."""
    made = volume("v", labels=labels)
    terms = tuple(
        NodeSelectorRequirement(key=key, operator="In" if values else "Exists", values=tuple(values))
        for key, *values in expressions
    )
    affinity = VolumeNodeAffinity(
        required=NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=terms),))
    )
    spec = structs.replace(made.spec, csi=None, node_affinity=affinity if terms else None, **source)
    return structs.replace(made, spec=spec)


def expressions(required):
    return [
        [(e.key, e.operator, e.values) for e in term.match_expressions]
        for term in (required.node_selector_terms if required else ())
    ]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            persistent(GOOGLE, (ZONE, "a")), [("topology.gke.io/zone", "In", ("a",))], id="Google's zone key"
        ),
        pytest.param(
            persistent(AMAZON, (BETA_ZONE, "a"), (BETA_REGION, "r")),
            [("topology.ebs.csi.aws.com/zone", "In", ("a",)), (REGION, "In", ("r",))],
            id="Amazon's, and the beta region becomes the stable one",
        ),
        pytest.param(
            persistent(CINDER, (ZONE, "a"), ("disk", "x")),
            [("topology.cinder.csi.openstack.org/zone", "In", ("a",)), ("disk", "In", ("x",))],
            id="Cinder's, other keys stay",
        ),
        pytest.param(
            persistent(AZURE, (ZONE, "a")), [(ZONE, "In", ("a",))], id="Azure's driver keeps the affinity"
        ),
        pytest.param(persistent(PORTWORX, (ZONE, "a")), [(ZONE, "In", ("a",))], id="so does Portworx'"),
        pytest.param(
            persistent(AMAZON, **{ZONE: " b __a__"}),
            [("topology.ebs.csi.aws.com/zone", "In", ("a", "b"))],
            id="without an affinity the label's zones count, trimmed",
        ),
        pytest.param(
            persistent(GOOGLE, (ZONE,), **{ZONE: "a"}),
            [(ZONE, "Exists", ()), ("topology.gke.io/zone", "In", ("a",))],
            id="an expression without values names no zone",
        ),
        pytest.param(persistent(GOOGLE), None, id="nothing is known of its place"),
    ],
)
def test_translated_affinity(made, expected):
    """The driver's own zone key in place of the in-tree one."""
    assert expressions(translated_affinity(made)) == ([expected] if expected else [])


def test_a_bound_volume_that_cannot_be_translated_is_an_error_where_a_driver_has_taken_over():
    """Nodes without the driver read the volume as it is."""
    key = "storage.alpha.kubernetes.io/migrated-plugins"
    broken = persistent({"aws_elastic_block_store": AWSElasticBlockStore(volume_id="aws://z/disk")})
    plain = csi_node("n")
    taken = structs.replace(
        plain, metadata=structs.replace(plain.metadata, annotations={key: "kubernetes.io/aws-ebs"})
    )
    objects = (node("n"), claim("c", bound_to="v"), broken)
    binding, incoming = IN_TREE["VolumeBinding"], pod("p").claim("c")
    assert World(binding, *objects, plain).rejections(incoming) == {}
    with pytest.raises(ValueError, match=r"^could not translate pv: failed to translate Kubernetes ID"):
        World(binding, *objects, taken).rejections(incoming)


def test_the_api_writes_the_sources_like_this():
    """The field names of the API, decoded from an object as the API server stores it."""
    spec = {
        "containers": [],
        "volumes": [
            {"name": "a", "azureDisk": {"diskURI": "u", "diskName": "d", "kind": "Managed"}},
            {"name": "f", "azureFile": {"secretName": "s", "shareName": "n"}},
            {"name": "c", "cinder": {"volumeID": "c"}},
            {"name": "p", "portworxVolume": {"volumeID": "p"}},
            {"name": "v", "vsphereVolume": {"volumePath": "v"}},
        ],
    }
    made = convert({"kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    assert [identity(one, {}) for one in made.spec.volumes] == [
        ("disk.csi.azure.com", "u"),
        None,
        ("cinder.csi.openstack.org", "c"),
        ("pxd.portworx.com", "p"),
        None,
    ]
