"""Hard legality: may this pod run on this node? One function per rule, each true when the rule is met.

Rules are those of kube-scheduler 1.36's default filters, pkg/scheduler/framework/plugins. Where the reference
does something that its documentation does not say, the rule does it too, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from schedlab.judge.values import (
    Object,
    amount,
    is_empty,
    quantity,
    selects,
    term_matches,
    tolerated,
)
from schedlab.judge.volumes import (
    attachments_suffice,
    claims_are_served,
    disks_can_be_shared,
    single_pod_claims_are_free,
    volumes_are_in_the_zone,
    volumes_are_reachable,
)
from schedlab.judge.world import World, labels, namespace, priority

Rule = Callable[[Object, Object, World], bool]
Requests = dict[str, int]

_FORBIDS = ("NoSchedule", "NoExecute")
_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_POD_LEVEL = ("cpu", "memory")


def node_is_named(pod: Object, node: Object, _: World) -> bool:
    """A pod that names its node goes nowhere else."""
    return pod["spec"].get("nodeName") in (None, "", node["metadata"]["name"])


def node_is_schedulable(pod: Object, node: Object, _: World) -> bool:
    """A cordoned node takes only pods that tolerate the taint that cordoning stands for."""
    return not node["spec"].get("unschedulable") or tolerated(pod, _CORDON)


def taints_are_tolerated(pod: Object, node: Object, _: World) -> bool:
    """Every taint that forbids scheduling is tolerated; PreferNoSchedule forbids nothing."""
    return all(
        tolerated(pod, taint) for taint in node["spec"].get("taints") or () if taint["effect"] in _FORBIDS
    )


def node_is_wanted(pod: Object, node: Object, _: World) -> bool:
    """The node carries all labels of the node selector and matches a term of required node affinity."""
    wanted = pod["spec"].get("nodeSelector") or {}
    if any(labels(node).get(key) != value for key, value in wanted.items()):
        return False
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(term_matches(term, node) for term in required.get("nodeSelectorTerms") or ())


def resources_suffice(pod: Object, node: Object, world: World) -> bool:
    """What the pod asks for fits beside what the node's pods ask for, and one more pod is allowed.

    A resource of which nothing is asked is not looked at, even if the node is overcommitted.
    """
    status = node.get("status") or {}
    room = {name: amount(name, quantity(text)) for name, text in (status.get("allocatable") or {}).items()}
    others = world.on(node["metadata"]["name"])
    if len(others) + 1 > room.get("pods", 0):
        return False
    taken: Requests = {}
    for other in others:
        for name, count in requests(other).items():
            taken[name] = taken.get(name, 0) + count
    return all(
        count <= room.get(name, 0) - taken.get(name, 0) for name, count in requests(pod).items() if count
    )


def requests(pod: Object) -> Requests:
    """What a pod asks for, per resource, in whole units.

    Main containers and sidecars run together; an init container runs beside the sidecars started before it;
    the pod needs the larger of the two, plus overhead. A request on the pod itself replaces that sum.
    """
    spec = pod["spec"]
    running: dict[str, Fraction] = {}
    peak: dict[str, Fraction] = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            running = _plus(running, _asked(container))
            peak = _larger(peak, running)
        else:
            peak = _larger(peak, _plus(running, _asked(container)))
    for container in spec["containers"]:
        running = _plus(running, _asked(container))
    needed = _larger(peak, running)
    for name, exact in _asked(spec).items():
        if name in _POD_LEVEL or name.startswith("hugepages-"):
            needed[name] = exact
    overhead = {name: quantity(text) for name, text in (spec.get("overhead") or {}).items()}
    return {name: amount(name, exact) for name, exact in _plus(needed, overhead).items()}


def _asked(holder: Object) -> dict[str, Fraction]:
    resources = holder.get("resources") or {}
    return {name: quantity(text) for name, text in (resources.get("requests") or {}).items()}


def _plus(left: Mapping[str, Fraction], right: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {name: left.get(name, Fraction()) + right.get(name, Fraction()) for name in {**left, **right}}


def _larger(left: Mapping[str, Fraction], right: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {name: max(left.get(name, Fraction()), right.get(name, Fraction())) for name in {**left, **right}}


def ports_are_free(pod: Object, node: Object, world: World) -> bool:
    """No host port of the pod is taken: same protocol, same port, and the same or any address."""
    taken = [port for other in world.on(node["metadata"]["name"]) for port in host_ports(other)]
    return not any(_collide(mine, theirs) for mine in host_ports(pod) for theirs in taken)


def host_ports(pod: Object) -> list[tuple[str, int, str]]:
    """(protocol, port, address) of every host port of main containers and sidecars."""
    spec = pod["spec"]
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    return [
        (port.get("protocol") or "TCP", port["hostPort"], port.get("hostIP") or "0.0.0.0")  # noqa: S104 - compared
        for container in (*sidecars, *spec["containers"])
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def _collide(mine: tuple[str, int, str], theirs: tuple[str, int, str]) -> bool:
    everywhere = "0.0.0.0"  # noqa: S104 - compared, not bound
    return mine[:2] == theirs[:2] and (mine[2] == theirs[2] or everywhere in (mine[2], theirs[2]))


def spread_is_even(pod: Object, node: Object, world: World) -> bool:
    """With the pod there, its domain exceeds the emptiest by maxSkew at most, for each hard constraint."""
    constraints = [
        one
        for one in pod["spec"].get("topologySpreadConstraints") or ()
        if one["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    keys = [one["topologyKey"] for one in constraints]
    if any(key not in labels(node) for key in keys):
        return False
    counted = [other for other in world.nodes.values() if all(key in labels(other) for key in keys)]
    return all(_constraint_holds(one, pod, node, counted, world) for one in constraints)


def _constraint_holds(
    constraint: Object, pod: Object, node: Object, counted: Iterable[Object], world: World
) -> bool:
    """Count matching pods per domain over the nodes that take part, and compare with the emptiest domain.

    A selector that demands nothing counts no pod, although it matches the new one.
    """
    key = constraint["topologyKey"]
    domains: dict[str, int] = {}
    for other in counted:
        if _takes_part(constraint, pod, other, world):
            value = labels(other)[key]
            matching = sum(_is_counted(constraint, pod, one) for one in world.on(other["metadata"]["name"]))
            domains[value] = domains.get(value, 0) + matching
    emptiest = min(domains.values(), default=0)
    if len(domains) < (constraint.get("minDomains") or 1):
        emptiest = 0
    itself = 1 if _constraint_selects(constraint, pod, labels(pod)) else 0
    return bool(domains.get(labels(node)[key], 0) + itself - emptiest <= constraint["maxSkew"])


def _takes_part(constraint: Object, pod: Object, node: Object, world: World) -> bool:
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not node_is_wanted(pod, node, world):
        return False
    return constraint.get("nodeTaintsPolicy", "Ignore") == "Ignore" or taints_are_tolerated(pod, node, world)


def _is_counted(constraint: Object, pod: Object, other: Object) -> bool:
    if namespace(other) != namespace(pod) or other["metadata"].get("deletionTimestamp"):
        return False
    if is_empty(constraint.get("labelSelector")) and not _keyed(constraint, pod):
        return False
    return _constraint_selects(constraint, pod, labels(other))


def _constraint_selects(constraint: Object, pod: Object, candidate: Mapping[str, str]) -> bool:
    keyed = _keyed(constraint, pod)
    if any(candidate.get(key) != value for key, value in keyed.items()):
        return False
    return selects(constraint.get("labelSelector"), candidate)


def _keyed(constraint: Object, pod: Object) -> dict[str, str]:
    """The labels that matchLabelKeys adds to the selector; keys that the pod lacks add nothing."""
    own = labels(pod)
    return {key: own[key] for key in constraint.get("matchLabelKeys") or () if key in own}


def affinity_is_met(pod: Object, node: Object, world: World) -> bool:
    """For each required affinity term, the node's domain holds a pod that matches all terms of the pod.

    The first of a group may come alone: when no pod in any domain matches all terms, matching them oneself
    will do.
    """
    terms = _required(pod, "podAffinity")
    if not terms:
        return True
    if any(term["topologyKey"] not in labels(node) for term in terms):
        return False
    friends = [
        home for other, home in world.everywhere() if all(_selects(term, pod, other, world) for term in terms)
    ]
    if all(any(_together(term, node, home) for home in friends) for term in terms):
        return True
    alone = not any(term["topologyKey"] in labels(home) for home in friends for term in terms)
    return alone and all(_selects(term, pod, pod, world) for term in terms)


def anti_affinity_is_met(pod: Object, node: Object, world: World) -> bool:
    """No pod that an anti-affinity term of the pod names is in the node's domain."""
    return not any(
        _together(term, node, home) and _selects(term, pod, other, world)
        for term in _required(pod, "podAntiAffinity")
        for other, home in world.everywhere()
    )


def others_do_not_mind(pod: Object, node: Object, world: World) -> bool:
    """No pod whose anti-affinity names this one is in the node's domain."""
    return not any(
        _together(term, node, home) and _selects(term, other, pod, world)
        for other, home in world.everywhere()
        for term in _required(other, "podAntiAffinity")
    )


def _required(pod: Object, kind: str) -> list[Object]:
    affinity = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return list(affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ())


def _together(term: Object, node: Object, home: Object) -> bool:
    key = term["topologyKey"]
    return key in labels(node) and labels(node)[key] == labels(home).get(key)


def _selects(term: Object, owner: Object, other: Object, world: World) -> bool:
    """True if a term of `owner` names `other`: by namespace or that one's labels, and by its own labels."""
    named, selector = term.get("namespaces") or (), term.get("namespaceSelector")
    if not named and selector is None:
        named = (namespace(owner),)
    home = namespace(other)
    if home not in named and not selects(selector, world.namespaces.get(home, {})):
        return False
    return selects(term.get("labelSelector"), labels(other))


#: Every rule, by the plugin whose decision it is.
RULES: Mapping[str, tuple[Rule, ...]] = {
    "NodeName": (node_is_named,),
    "NodeUnschedulable": (node_is_schedulable,),
    "TaintToleration": (taints_are_tolerated,),
    "NodeAffinity": (node_is_wanted,),
    "NodePorts": (ports_are_free,),
    "NodeResourcesFit": (resources_suffice,),
    "VolumeRestrictions": (disks_can_be_shared, single_pod_claims_are_free),
    "NodeVolumeLimits": (attachments_suffice,),
    "VolumeBinding": (claims_are_served, volumes_are_reachable),
    "VolumeZone": (volumes_are_in_the_zone,),
    "PodTopologySpread": (spread_is_even,),
    "InterPodAffinity": (affinity_is_met, anti_affinity_is_met, others_do_not_mind),
}


def broken(pod: Object, node: Object, world: World) -> list[str]:
    """The plugins that have an objection to the pod on the node, in a world as it is."""
    return [plugin for plugin, rules in RULES.items() if not all(rule(pod, node, world) for rule in rules)]


def objections(objects: Iterable[Object], pod: Object) -> dict[str, list[str]]:
    """For each node, the plugins that object to the pod on it.

    Pods that a node has been promised to count as if they ran there, unless they are less important than this
    one; the pod must be welcome both with them and without, since they may yet go elsewhere.
    """
    world = World.of(objects)
    verdicts: dict[str, list[str]] = {}
    for name, node in world.nodes.items():
        verdicts[name] = broken(pod, node, world)
        promised = [one for one in world.nominated.get(name, ()) if counts_before(one, pod)]
        if promised and not verdicts[name]:
            verdicts[name] = _with_promised(pod, node, world, promised)
    return verdicts


def counts_before(nominated: Object, pod: Object) -> bool:
    """True if a nominated pod is another one and at least as important."""
    return nominated["metadata"]["uid"] != pod["metadata"].get("uid") and priority(nominated) >= priority(pod)


def _with_promised(pod: Object, node: Object, world: World, promised: list[Object]) -> list[str]:
    """Objections once the promised pods are there.

    The reference does not look at affinity at all if it had no reason to before they came.
    """
    found = broken(pod, node, world.with_pods(node["metadata"]["name"], promised))
    concerned = _required(pod, "podAffinity") or _required(pod, "podAntiAffinity")
    if not concerned and not _minded_somewhere(pod, world):
        found = [plugin for plugin in found if plugin != "InterPodAffinity"]
    return found


def _minded_somewhere(pod: Object, world: World) -> bool:
    return any(
        term["topologyKey"] in labels(home) and _selects(term, other, pod, world)
        for other, home in world.everywhere()
        for term in _required(other, "podAntiAffinity")
    )


def feasible(objects: Iterable[Object], pod: Object) -> frozenset[str]:
    """The nodes on which the pod may run."""
    return frozenset(node for node, plugins in objections(objects, pod).items() if not plugins)
