"""Hard legality of volumes: one function per rule, each true when the rule is met.

Covers claims that are bound or never will be. Follows
pkg/scheduler/framework/plugins/{volumebinding,volumezone, volumerestrictions,nodevolumelimits} (1.36).
"""

from __future__ import annotations

from schedlab.judge.values import Object, term_matches
from schedlab.judge.world import World, labels, namespace

_BOUND = "pv.kubernetes.io/bind-completed"
_PLACES = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
Volume = tuple[str, str]


def claims_are_bound(pod: Object, _: Object, world: World) -> bool:
    """Every claim of the pod exists and is bound to a volume that exists."""
    return all(
        claim is not None and _is_bound(claim) and claim["spec"]["volumeName"] in world.volumes
        for claim in _claims(pod, world)
    )


def volumes_are_reachable(pod: Object, node: Object, world: World) -> bool:
    """The node matches the node affinity of every volume."""
    for volume in _volumes(pod, world):
        required = (volume["spec"].get("nodeAffinity") or {}).get("required")
        if required and not any(term_matches(term, node) for term in required["nodeSelectorTerms"]):
            return False
    return True


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
    volumes = pod["spec"].get("volumes") or ()
    return [one["persistentVolumeClaim"]["claimName"] for one in volumes if one.get("persistentVolumeClaim")]


def _claims(pod: Object, world: World) -> list[Object | None]:
    return [world.claims.get((namespace(pod), name)) for name in _names(pod)]


def _volumes(pod: Object, world: World) -> list[Object]:
    bound = [claim["spec"].get("volumeName", "") for claim in _claims(pod, world) if claim is not None]
    return [world.volumes[name] for name in bound if name in world.volumes]


def _attached(pod: Object, world: World) -> list[Volume]:
    sources = [volume["spec"].get("csi") for volume in _volumes(pod, world)]
    return [(source["driver"], source["volumeHandle"]) for source in sources if source]


def _is_bound(claim: Object) -> bool:
    return bool(claim["spec"].get("volumeName")) and _BOUND in (claim["metadata"].get("annotations") or {})


def _is_single(claim: Object | None) -> bool:
    return claim is not None and "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ())
