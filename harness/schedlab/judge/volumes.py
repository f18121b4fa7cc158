"""Hard legality of volumes: one function per rule, each true when the rule is met.

Follows pkg/scheduler/framework/plugins/{volumebinding,volumezone,volumerestrictions,nodevolumelimits} (1.36).
"""

from __future__ import annotations

from schedlab.judge.storage import can_be_served, reaches, waits
from schedlab.judge.values import Object
from schedlab.judge.world import World, labels, namespace

_BOUND = "pv.kubernetes.io/bind-completed"
_PLACES = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
#: What makes two disks one; readers may share it, except where the kind does not know reading.
_SHARED_BY = {
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "iscsi": ("iqn",),
    "rbd": ("image", "pool"),
}
Volume = tuple[str, str]


def claims_are_served(pod: Object, node: Object, world: World) -> bool:
    """Every claim exists, and is bound to a volume that exists, or waits for a choice that can be made."""
    waiting: list[Object] = []
    for claim in _claims(pod, world):
        if claim is None or (claim.get("status") or {}).get("phase") == "Lost":
            return False
        if not _is_bound(claim):
            if not waits(claim, world):
                return False
            waiting.append(claim)
        elif claim["spec"]["volumeName"] not in world.volumes:
            return False
    return can_be_served(waiting, node, world)


def volumes_are_reachable(pod: Object, node: Object, world: World) -> bool:
    """The node matches the node affinity of every volume."""
    return all(reaches(node, volume) for volume in _volumes(pod, world))


def volumes_are_in_the_zone(pod: Object, node: Object, world: World) -> bool:
    """The node is where the labels of every volume say; a node without zone and region may take all."""
    here = labels(node)
    if not any(place in here for place in _PLACES):
        return True
    return all(
        here.get(place) in labels(volume)[place].split("__")
        for volume in _volumes(pod, world)
        for place in _PLACES
        if place in labels(volume)
    )


def single_pod_claims_are_free(pod: Object, _: Object, world: World) -> bool:
    """A claim for one pod only is used by no pod on any node."""
    wanted = {name for name in _names(pod) if _is_single(world.claims.get((namespace(pod), name)))}
    return not any(
        namespace(other) == namespace(pod) and wanted & set(_names(other)) for other, _ in world.everywhere()
    )


def disks_can_be_shared(pod: Object, node: Object, world: World) -> bool:
    """No pod on the node has a disk that its kind does not let two pods have."""
    theirs = [disk for other in world.on(node["metadata"]["name"]) for disk in _disks(other)]
    return not any(_clash(mine, disk) for mine in _disks(pod) for disk in theirs)


def _disks(pod: Object) -> list[Object]:
    return list(pod["spec"].get("volumes") or ())


def _clash(mine: Object, theirs: Object) -> bool:
    for kind in _SHARED_BY.keys() & mine.keys() & theirs.keys():
        one, other = mine[kind], theirs[kind]
        same = all(one[key] == other[key] for key in _SHARED_BY[kind])
        if kind == "rbd":
            same = same and bool(set(one["monitors"]) & set(other["monitors"]))
        reading = kind != "awsElasticBlockStore" and one.get("readOnly") and other.get("readOnly")
        return same and not reading
    return False


def attachments_suffice(pod: Object, node: Object, world: World) -> bool:
    """With the pod's volumes, no driver has more of them on the node than it can attach."""
    name = node["metadata"]["name"]
    drivers = world.drivers.get(name, {})
    there = {volume for other in world.on(name) for volume in _attached(other, world)}
    new = set(_attached(pod, world)) - there
    return all(
        driver not in drivers or sum(1 for one in (*there, *new) if one[0] == driver) <= drivers[driver]
        for driver in {one[0] for one in new}
    )


def _names(pod: Object) -> list[str]:
    """The claims of a pod; one for a volume of its own is named after pod and volume."""
    names: list[str] = []
    for volume in pod["spec"].get("volumes") or ():
        if volume.get("persistentVolumeClaim"):
            names.append(volume["persistentVolumeClaim"]["claimName"])
        elif volume.get("ephemeral"):
            names.append(f"{pod['metadata']['name']}-{volume['name']}")
    return names


def _claims(pod: Object, world: World) -> list[Object | None]:
    return [world.claims.get((namespace(pod), name)) for name in _names(pod)]


def _volumes(pod: Object, world: World) -> list[Object]:
    bound = [claim["spec"].get("volumeName", "") for claim in _claims(pod, world) if claim is not None]
    return [world.volumes[name] for name in bound if name in world.volumes]


def _attached(pod: Object, world: World) -> list[Volume]:
    sources = [volume["spec"].get("csi") for volume in _volumes(pod, world)]
    found = [(source["driver"], source["volumeHandle"]) for source in sources if source]
    return [*found, *(one for claim in _claims(pod, world) for one in _to_be_made(claim, world))]


def _to_be_made(claim: Object | None, world: World) -> list[Volume]:
    """What will be attached for a claim that has no volume yet: one of its class's driver."""
    if claim is None or claim["spec"].get("volumeName") in world.volumes:
        return []
    storage_class = world.classes.get(claim["spec"].get("storageClassName") or "")
    handle = f"{namespace(claim)}/{claim['metadata']['name']}"
    return [(storage_class["provisioner"], handle)] if storage_class else []


def _is_bound(claim: Object) -> bool:
    return bool(claim["spec"].get("volumeName")) and _BOUND in (claim["metadata"].get("annotations") or {})


def _is_single(claim: Object | None) -> bool:
    return claim is not None and "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ())
