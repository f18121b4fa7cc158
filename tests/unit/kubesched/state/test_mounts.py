"""Who mounts what, kept through pod events."""

from __future__ import annotations

import pytest

from kubesched.api.volumes import (
    ISCSI,
    RBD,
    AWSElasticBlockStore,
    EphemeralVolumeSource,
    GCEPersistentDisk,
    Volume,
)
from kubesched.state.events import WatchEvent
from kubesched.state.mounts import claim_mount, mounts_of
from kubesched.testing.builders import cluster, node, pod


@pytest.mark.parametrize(
    ("source", "mount"),
    [
        pytest.param({"gce_persistent_disk": GCEPersistentDisk(pd_name="d")}, ("gce", "d"), id="gce"),
        pytest.param(
            {"aws_elastic_block_store": AWSElasticBlockStore(volume_id="v")}, ("aws", "v"), id="aws"
        ),
        pytest.param({"iscsi": ISCSI(iqn="i", lun=1)}, ("iscsi", "i"), id="iscsi, whatever the lun"),
        pytest.param({"rbd": RBD(pool="p", image="i")}, ("rbd", "p", "i"), id="rbd"),
        pytest.param({"ephemeral": EphemeralVolumeSource()}, ("ephemeral", "default", "p-v"), id="ephemeral"),
    ],
)
def test_a_disk_is_known_by_what_names_it(source, mount) -> None:
    """Pods with equal mounts may share a disk."""
    assert list(mounts_of(pod("p").volume(Volume(name="v", **source)))) == [mount]


def test_mounts_follow_the_pods() -> None:
    """A mount is on a slot as long as some pod there has it; others than the first do not matter."""
    state = cluster(node("a"), node("b"), pod("p").claim("c").on("a"), pod("q").claim("c").on("a"))
    c = claim_mount("default", "c")
    assert set(state.pods.mounts.slots(c)) == {state.nodes.slot["a"]}
    state.apply(WatchEvent("DELETED", pod("p").claim("c").on("a")))
    assert set(state.pods.mounts.slots(c)) == {state.nodes.slot["a"]}
    state.assume(pod("r").claim("c"), "b")
    state.apply(WatchEvent("DELETED", pod("q").claim("c").on("a")))
    assert set(state.pods.mounts.slots(c)) == {state.nodes.slot["b"]}
    state.forget("uid-r")
    assert state.pods.mounts.all() == {}


def test_an_update_moves_the_mounts() -> None:
    """Volumes cannot change in the API; a scheduler that missed a pod's replacement sees it as a change."""
    state = cluster(node("a"), pod("p").claim("c").on("a"))
    state.apply(WatchEvent("MODIFIED", pod("p").claim("d").on("a")))
    assert set(state.pods.mounts.all()) == {claim_mount("default", "d")}
    assert state.audit() == []
