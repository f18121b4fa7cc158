"""Hard legality of claims that wait for their first consumer: is there a volume, or can one be made?

Follows pkg/scheduler/framework/plugins/volumebinding/binder.go and
k8s.io/component-helpers/storage/volume/pv_helpers.go (1.36). Claims take volumes one after another, the
smallest claim first and the smallest volume that will do, so an arrangement that only a cleverer choice would
find does not count.
"""

from __future__ import annotations

from fractions import Fraction

from schedlab.judge.values import Object, quantity, selects, term_matches
from schedlab.judge.world import World, labels, namespace

_SELECTED = "volume.kubernetes.io/selected-node"
_NONE = "kubernetes.io/no-provisioner"


def waits(claim: Object, world: World) -> bool:
    """True if nothing is chosen for the claim yet, and its class leaves the choice to the scheduler."""
    storage_class = world.classes.get(claim["spec"].get("storageClassName") or "")
    lazy = storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
    return lazy and not claim["spec"].get("volumeName")


def can_be_served(claims: list[Object], node: Object, world: World) -> bool:
    """Each of these waiting claims of one pod gets a volume on the node, or can have one made there."""
    promised = [claim for claim in claims if _promise(claim)]
    if any(_promise(claim) != node["metadata"]["name"] for claim in promised):
        return False
    taken: set[str] = set()
    to_make = promised
    for claim in sorted((claim for claim in claims if not _promise(claim)), key=_size):
        volume = _volume_for(claim, node, world, taken)
        if volume is None:
            to_make.append(claim)
        else:
            taken.add(volume["metadata"]["name"])
    return all(_can_be_made(claim, node, world) for claim in to_make)


def reaches(node: Object, volume: Object) -> bool:
    """The node matches the volume's node affinity."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return not required or any(term_matches(term, node) for term in required["nodeSelectorTerms"])


def _promise(claim: Object) -> str:
    return str((claim["metadata"].get("annotations") or {}).get(_SELECTED) or "")


def _size(claim: Object) -> Fraction:
    return quantity(claim["spec"]["resources"]["requests"]["storage"])


def _room(volume: Object) -> Fraction:
    return quantity(volume["spec"]["capacity"]["storage"])


def _volume_for(claim: Object, node: Object, world: World, taken: set[str]) -> Object | None:
    """The volume set aside for the claim, which must be within reach, or else the smallest that will do."""
    same_class = [
        volume
        for name, volume in world.volumes.items()
        if volume["spec"].get("storageClassName") == claim["spec"].get("storageClassName")
        and name not in taken
        and _room(volume) >= _size(claim)
    ]
    for volume in same_class:
        if _is_set_aside(volume, claim):
            return volume if reaches(node, volume) else None
    return min((one for one in same_class if _will_do(one, claim, node)), key=_room, default=None)


def _is_set_aside(volume: Object, claim: Object) -> bool:
    owner = volume["spec"].get("claimRef")
    mine = (namespace(claim), claim["metadata"]["name"])
    return owner is not None and (owner["namespace"], owner["name"]) == mine


def _will_do(volume: Object, claim: Object, node: Object) -> bool:
    selector = claim["spec"].get("selector")
    return (
        not volume["spec"].get("claimRef")
        and (volume.get("status") or {}).get("phase") == "Available"
        and (selector is None or selects(selector, labels(volume)))
        and set(claim["spec"]["accessModes"]) <= set(volume["spec"]["accessModes"])
        and reaches(node, volume)
    )


def _can_be_made(claim: Object, node: Object, world: World) -> bool:
    storage_class = world.classes[claim["spec"]["storageClassName"]]
    driver = storage_class["provisioner"]
    topologies = storage_class.get("allowedTopologies") or ()
    if driver == _NONE or (topologies and not any(_is_in(node, one) for one in topologies)):
        return False
    if driver not in world.tracked:
        return True
    return any(
        room["storageClassName"] == storage_class["metadata"]["name"]
        and room.get("nodeTopology") is not None
        and selects(room["nodeTopology"], labels(node))
        and _holds(room) >= _size(claim)
        for room in world.rooms
    )


def _is_in(node: Object, topology: Object) -> bool:
    return all(labels(node).get(one["key"]) in one["values"] for one in topology["matchLabelExpressions"])


def _holds(room: Object) -> Fraction:
    """The largest volume that can be made there; less than any if nobody has said."""
    limit = room.get("maximumVolumeSize") or room.get("capacity")
    return quantity(limit) if limit else Fraction(-1)
