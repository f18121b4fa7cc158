"""What the volume plugins keep between decisions is what they would find anew."""

from __future__ import annotations

from random import Random

import pytest
from msgspec import structs
from plugin_world import World

from kubesched.api.base import ObjectMeta
from kubesched.api.objects import VolumeAttachment
from kubesched.api.storage import VolumeAttachmentSource, VolumeAttachmentSpec
from kubesched.api.volumes import ISCSI, AWSElasticBlockStore, Volume
from kubesched.framework.registration import register
from kubesched.plugins.registry import IN_TREE
from kubesched.state import changes
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import node, pod
from kubesched.testing.storage import claim, csi_node, storage_class, volume

LIMITS, RESTRICTIONS = IN_TREE["NodeVolumeLimits"], IN_TREE["VolumeRestrictions"]
NODES, NAMES = ("n0", "n1", "n2"), ("a", "b", "c", "d")
EBS = "ebs.csi.aws.com"


def attachment(name, node_name):
    source = VolumeAttachmentSource(persistent_volume_name=f"v-{name}")
    spec = VolumeAttachmentSpec(attacher="csi.example.com", node_name=node_name, source=source)
    return VolumeAttachment(metadata=ObjectMeta(name=f"of-{name}"), spec=spec)


def disk(number):
    return Volume(name="disk", aws_elastic_block_store=AWSElasticBlockStore(volume_id=f"vol-{number}"))


def target(number):
    return Volume(name="lun", iscsi=ISCSI(iqn=f"iqn-{number}"))


def drawn(rng):
    """One event about something that leads from pods to volumes."""
    name, where = rng.choice(NAMES), rng.choice(NODES)
    mode = "ReadWriteOncePod" if name == "d" else "ReadWriteOnce"
    handle = volume(f"v-{name}")
    moved = structs.replace(
        handle.spec, csi=structs.replace(handle.spec.csi, volume_handle=rng.choice("xyz"))
    )
    return rng.choice(
        [
            pod(f"p-{rng.randrange(6)}").claim(name).volume(disk(rng.randrange(3))).on(where),
            pod(f"p-{rng.randrange(6)}").claim(name).volume(target(rng.randrange(2))).on(where),
            claim(name, bound_to=rng.choice(["", f"v-{name}"]), mode=mode),
            structs.replace(handle, spec=moved),
            storage_class("standard", provisioner=rng.choice(["csi.example.com", "other", EBS])),
            csi_node(where, rng.choice([None, 0, 1, 2]), rng.choice(["csi.example.com", EBS])),
            attachment(name, where),
            node(where),
        ]
    )


def anew(factory, world):
    """A plugin that has seen nothing, over the same cluster."""
    fresh = World(factory)
    fresh.cluster = fresh.handle.cluster = world.cluster
    fresh.plugin = register(factory(None, fresh.handle))
    return fresh


def answers(world):
    pods = [
        pod("i").claim("a"),
        pod("i").claim("b").claim("c"),
        pod("i").claim("d"),
        pod("i").volume(disk(1)),
        pod("i").volume(target(1)).claim("a"),
    ]
    found = []
    for incoming in pods:
        try:
            found.append({name: status.message for name, status in world.rejections(incoming).items()})
        except ValueError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("factory", [LIMITS, RESTRICTIONS])
@pytest.mark.parametrize("seed", range(2))
def test_what_is_kept_is_what_would_be_found_anew(factory, seed, monkeypatch):
    """After each of many events a plugin that saw them all answers like one that sees the state first."""
    monkeypatch.setattr(changes, "_ROOM", 8)
    rng = Random(seed)
    world = World(factory, *(node(name) for name in NODES))
    for _ in range(40):
        for _ in range(rng.choice([1, 1, 1, 30])):
            word = "DELETED" if rng.random() < 0.3 else "MODIFIED"
            world.cluster.apply(WatchEvent(word, drawn(rng)))
        known = answers(world)
        fresh = anew(factory, world)
        assert known == answers(fresh)
        assert world.cluster.audit() == []
