"""Pods with volumes end up the same under kubesched and kube-scheduler, against a real volume controller."""

from __future__ import annotations

import kubernetes
import pytest
from tests.integration.kubesched.conftest import eventually
from tests.integration.kubesched.objects import condition, events, pod, scheduled

from schedlab.cluster.nodes import parse_groups

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

NAMESPACE = "default"
ZONE = "topology.kubernetes.io/zone"


def storage_class(name: str, mode: str, provisioner: str = "kubernetes.io/no-provisioner") -> dict:
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}


def volume(name: str, storage_class: str, size: str = "1Gi", node: str | None = None) -> dict:
    """A volume by hand, reached from one node or from everywhere."""
    spec: dict[str, object] = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "csi": {"driver": "csi.example.com", "volumeHandle": name},
    }
    if node:
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    return {"metadata": {"name": name}, "spec": spec}


def claim(name: str, storage_class: str, size: str = "1Gi", mode: str = "ReadWriteOnce") -> dict:
    resources = {"requests": {"storage": size}}
    spec = {"accessModes": [mode], "storageClassName": storage_class, "resources": resources}
    return {"metadata": {"name": name}, "spec": spec}


def using(name: str, *claims: str, **spec) -> dict:
    mounts = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return pod(name, volumes=mounts, **spec)


def furnish(lab, core) -> None:
    """Classes, volumes and claims that are there before any pod is."""
    storage = kubernetes.client.StorageV1Api(core.api_client)
    storage.create_storage_class(storage_class("waits", "WaitForFirstConsumer"))
    storage.create_storage_class(storage_class("made", "WaitForFirstConsumer", "csi.example.com"))
    storage.create_storage_class(storage_class("now", "Immediate"))
    for made in (
        volume("local-1", "waits", "5Gi", node="cpu-32-1"),
        volume("local-2", "waits", "1Gi", node="cpu-32-2"),
        volume("far", "now", node="nowhere"),
    ):
        core.create_persistent_volume(made)
    eventually(lambda: all(v.status.phase == "Available" for v in core.list_persistent_volume().items))
    for made in (
        claim("large", "waits", "3Gi"),
        claim("small", "waits", "1Gi"),
        claim("third", "waits", "1Gi"),
        claim("dynamic", "made"),
        claim("bound-far", "now"),
        claim("never", "now"),
    ):
        core.create_namespaced_persistent_volume_claim(NAMESPACE, made)
    eventually(lambda: core.read_namespaced_persistent_volume_claim("bound-far", NAMESPACE).spec.volume_name)


def verdicts(lab, which: str) -> dict[str, object]:
    core = lab.core()
    furnish(lab, core)
    lab.start(which)
    said: dict[str, object] = {}
    for name, mounts in {"wants-large": ["large"], "wants-small": ["small"]}.items():
        core.create_namespaced_pod(NAMESPACE, using(name, *mounts))
        node = scheduled(core, NAMESPACE, name)
        bound = core.read_namespaced_persistent_volume_claim(mounts[0], NAMESPACE)
        annotations = core.read_persistent_volume(bound.spec.volume_name).metadata.annotations
        said[name] = (
            node,
            bound.spec.volume_name,
            bound.status.phase,
            annotations,
            events(core, NAMESPACE, name),
        )
    for name, mounts in {
        "too-late": ["third"],
        "too-far": ["bound-far"],
        "overdue": ["never"],
        "missing": ["gone"],
    }.items():
        core.create_namespaced_pod(NAMESPACE, using(name, *mounts))
        said[name] = (condition(core, NAMESPACE, name), events(core, NAMESPACE, name))
    core.create_namespaced_pod(
        NAMESPACE, using("wants-made", "dynamic", nodeSelector={"kubernetes.io/hostname": "cpu-32-0"})
    )
    said["promised"] = eventually(
        lambda: (
            core.read_namespaced_persistent_volume_claim("dynamic", NAMESPACE).metadata.annotations or {}
        ).get("volume.kubernetes.io/selected-node")
    )
    assert lab.refusals() == []
    return said


def test_volumes_are_bound_as_by_the_reference(labs):
    """Static, dynamic, immediate and missing volumes: places, bindings, conditions and events are equal."""
    nodes = parse_groups("cpu-32=3")
    reference = verdicts(labs(nodes=nodes, zones=3), "kube-scheduler")
    ours = verdicts(labs(nodes=nodes, zones=3), "kubesched")
    assert ours == reference
    assert reference["wants-large"][:3] == ("cpu-32-1", "local-1", "Bound")
    assert reference["promised"] == "cpu-32-0"
