"""Is what events kept up to date the same as what the objects say?

Everything is worked out anew from nodes, pods and namespaces, one by one and without any of the shortcuts
that the columns take, and compared by name and content: slots and class numbers may differ between two ways
to the same state. The place of a node in the order, the sizes of images, and whether a host port that several
pods of a node name is taken, depend on what happened before; of these, what the objects decide is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kubesched.api import resources
from kubesched.api.node import Node
from kubesched.api.pod import Pod
from kubesched.state.classes import ClassTable
from kubesched.state.mounts import Mount, mounts_of
from kubesched.state.terms import pod_terms
from kubesched.state.types import I32

if TYPE_CHECKING:
    from kubesched.state.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference: which column, of which node, pod or class, and both values."""

    column: str
    key: str
    expected: object
    found: object

    def __str__(self) -> str:
        """Write the drift in one line."""
        return f"{self.column} of {self.key}: expected {self.expected!r}, found {self.found!r}"


def audit(cluster: Cluster) -> list[Drift]:
    """Name every difference between the state and the objects it was made from."""
    placed: dict[str, list[Pod]] = {}
    for pod in cluster.pods:
        placed.setdefault(pod.node_name, []).append(pod)
    return [
        *_slots(cluster, placed),
        *_order(cluster),
        *_nodes(cluster),
        *_free_slots(cluster),
        *_books(cluster, placed),
        *_pods(cluster),
        *_selectors(cluster),
        *_terms(cluster),
        *_mounts(cluster),
        *_classes(cluster),
        *_nominations(cluster),
    ]


def _differ(column: str, key: str, expected: object, found: object) -> Iterator[Drift]:
    """Give a drift if two values differ."""
    if expected != found:
        yield Drift(column, key, expected, found)


def _objects(cluster: Cluster) -> dict[str, Node]:
    """The nodes by name."""
    return {node.name: node for node in cluster.list("Node") if isinstance(node, Node)}


def _slots(cluster: Cluster, placed: Mapping[str, list[Pod]]) -> Iterator[Drift]:
    """Every node and every name that pods are on has one slot, and nothing else has."""
    nodes = cluster.nodes
    known = _objects(cluster)
    yield from _differ("slots", "the cluster", known.keys() | placed.keys(), set(nodes.slot))
    for name, slot in nodes.slot.items():
        yield from _differ("names", name, name, nodes.names[slot])
        yield from _differ("objects", name, known.get(name), nodes.objects[slot])


def _order(cluster: Cluster) -> Iterator[Drift]:
    """All nodes are in the order once, and each is in its zone."""
    nodes = cluster.nodes
    known = _objects(cluster)
    if not nodes.node_order.stale:  # before the next snapshot, there is no order to compare
        names = [nodes.names[slot] for slot in nodes.frozen_order.tolist()]
        yield from _differ("order", "the cluster", sorted(known), sorted(names))
    yield from _differ("zones", "the cluster", len(known), len(nodes))
    for name, node in known.items():
        yield from _differ("zone", name, node.zone, nodes.node_order.zone_of(name))


def _nodes(cluster: Cluster) -> Iterator[Drift]:
    """What is written down of each node is what its object says; a ghost has nothing."""
    nodes = cluster.nodes
    known = _objects(cluster)
    for name, slot in nodes.slot.items():
        node = known.get(name) or Node()
        allocatable = resources.allocatable(node.status.allocatable)
        pods = allocatable.pop(resources.PODS, 0)
        yield from _differ(
            "allocatable", name, _present(allocatable), _named(cluster, nodes.allocatable[slot])
        )
        yield from _differ("allowed_pods", name, pods, int(nodes.allowed_pods[slot]))
        yield from _differ("unschedulable", name, node.spec.unschedulable, bool(nodes.unschedulable[slot]))
        yield from _differ("taints", name, node.taints, _value(nodes.taint_classes, nodes.taints, slot))
        for column in nodes.label_columns.all():
            found = _value(column.values, column.ids, slot)
            yield from _differ(f"label {column.key}", name, node.labels.get(column.key), found)
        listed = {name for image in node.status.images for name in image.names}
        yield from _differ("images", name, listed, set(nodes.image_states.names_on(slot)))
        for image in listed:
            yield from _differ(f"image {image}", name, True, slot in nodes.image_states.holders(image))


def _free_slots(cluster: Cluster) -> Iterator[Drift]:
    """A slot that is nobody's is empty in every column."""
    nodes = cluster.nodes
    free = sorted(set(range(nodes.capacity)) - set(nodes.slot.values()))
    columns = {
        "books": nodes.books,
        "allocatable": nodes.allocatable,
        "allowed_pods": nodes.allowed_pods,
        "unschedulable": nodes.unschedulable,
        "images": nodes.frozen_images + 1,
        **{f"label {column.key}": column.ids + 1 for column in nodes.label_columns.all()},
    }
    for name, column in columns.items():
        dirty = [slot for slot in free if column[slot].any()]
        yield from _differ(name, "free slots", [], dirty)
    for slot in free:
        yield from _differ("taints", f"free slot {slot}", (), _value(nodes.taint_classes, nodes.taints, slot))
        yield from _differ(
            "ports", f"free slot {slot}", frozenset(), _value(nodes.port_classes, nodes.ports, slot)
        )


def _books(cluster: Cluster, placed: Mapping[str, list[Pod]]) -> Iterator[Drift]:
    """What each node's pods take is the sum over its pods."""
    nodes = cluster.nodes
    for name, slot in nodes.slot.items():
        pods = placed.get(name, [])
        requested: Counter[str] = Counter()
        nonzero = np.zeros(2, np.int64)
        for pod in pods:
            exact = resources.pod_requests(pod)
            requested.update(resources.rounded(exact))
            nonzero += resources.existing_nonzero(pod, exact)
        used = _value(nodes.port_classes, nodes.ports, slot)
        ports = frozenset(port for pod in pods for port in pod.host_ports)
        yield from _differ("requested", name, _present(requested), _named(cluster, nodes.requested[slot]))
        yield from _differ("nonzero", name, nonzero.tolist(), nodes.nonzero[slot].tolist())
        yield from _differ("pod_count", name, len(pods), int(nodes.pod_count[slot]))
        if not (isinstance(used, frozenset) and used <= ports):
            yield Drift("ports", name, ports, used)


def _pods(cluster: Cluster) -> Iterator[Drift]:
    """Each pod is on its node's slot once, under its key, and its amounts are its own."""
    pods, nodes = cluster.pods, cluster.nodes
    seats = Counter(pod.uid for slot in nodes.slot.values() for pod in pods.on_node(slot))
    yield from _differ("on_node", "the cluster", Counter(pods.by_uid.keys()), seats)
    yield from _differ("assumed", "the cluster", set(), cluster.assumed - pods.by_uid.keys())
    for uid, pod in pods.by_uid.items():
        yield from _differ("uid", pod.key, uid, pod.uid)
        yield from _differ("slot", pod.key, nodes.slot.get(pod.node_name), pods.slot_of(uid))
        yield from _differ("by_key", pod.key, pod, pods.by_key.get(pod.key))
        exact = resources.pod_requests(pod)
        amounts = [1, *resources.existing_nonzero(pod, exact)]
        asked = resources.rounded(exact)
        amounts += [asked.get(name, 0) for name in nodes.resources]
        yield from _differ("amounts", pod.key, amounts, pods.amounts_of([pod])[0].tolist())
    yield from _differ("by_key", "the cluster", len(pods.by_uid), len(pods.by_key))


def _selectors(cluster: Cluster) -> Iterator[Drift]:
    """Each selector class counts the pods that match it; namespaces have the labels of their objects."""
    pods = cluster.pods
    namespaces = {obj.name: obj.labels for obj in cluster.list("Namespace")}
    yield from _differ("namespaces", "the cluster", namespaces, dict(pods.namespaces))
    for wanted in list(pods.counts.registered()):
        matching = [
            pod
            for pod in pods
            if all(part.matches(pod.namespace, pod.labels, namespaces.get(pod.namespace)) for part in wanted)
        ]
        live = [pod for pod in matching if not pod.is_terminating]
        for column, counted, live_only in (("count", matching, False), ("live count", live, True)):
            expected = Counter(pod.node_name for pod in counted)
            yield from _per_node(cluster, column, str(wanted), expected, pods.count(wanted, live_only))


def _terms(cluster: Cluster) -> Iterator[Drift]:
    """Each affinity term counts the pods that carry it."""
    expected: dict[Hashable, Counter[str]] = {}
    for pod in cluster.pods:
        for term in pod_terms(pod):
            expected.setdefault(term, Counter())[pod.node_name] += 1
    found = {known.term: known for known in cluster.pods.terms.all()}
    yield from _differ("terms", "the cluster", set(expected), set(found))
    for term, known in found.items():
        counts = {cluster.nodes.names[slot]: number for slot, number in zip(*known.nodes(), strict=True)}
        yield from _differ("term", str(term), dict(expected.get(term, {})), counts)


def _mounts(cluster: Cluster) -> Iterator[Drift]:
    """Each mount counts the pods that have it, slot by slot."""
    expected: dict[Mount, Counter[str]] = {}
    for pod in cluster.pods:
        for mount in mounts_of(pod):
            expected.setdefault(mount, Counter())[pod.node_name] += 1
    names = cluster.nodes.names
    found = {
        mount: {names[slot]: number for slot, number in counts.items()}
        for mount, counts in cluster.pods.mounts.all().items()
    }
    for mount in expected.keys() | found.keys():
        yield from _differ("mounts", "/".join(mount), dict(expected.get(mount, {})), found.get(mount, {}))


def _classes(cluster: Cluster) -> Iterator[Drift]:
    """Each class number is used as often as it stands in its column."""
    nodes = cluster.nodes
    used: list[tuple[str, ClassTable[Any], I32]] = [
        ("taint classes", nodes.taint_classes, nodes.taints),
        ("port classes", nodes.port_classes, nodes.ports),
        ("image classes", nodes.image_states.table, nodes.frozen_images),
        *((f"values of {column.key}", column.values, column.ids) for column in nodes.label_columns.all()),
    ]
    for name, table, column in used:
        expected = Counter(number for number in column.tolist() if number >= 0)
        found = {number: uses for number, _ in table.items() if (uses := table.uses(number))}
        yield from _differ(name, "the cluster", dict(expected), found)


def _nominations(cluster: Cluster) -> Iterator[Drift]:
    """Each nominated pod stands under the node it is nominated to, and nowhere else."""
    nominated = cluster.nominated
    listed = {pod.uid: name for name in nominated.nodes() for pod in nominated.on(name)}
    yield from _differ("nominated", "the cluster", listed, {uid: nominated.node_of(uid) for uid in listed})
    yield from _differ("nominated", "the cluster", len(listed), len(nominated))


def _per_node(
    cluster: Cluster, column: str, key: str, expected: Mapping[str, int], found: I32
) -> Iterator[Drift]:
    """Compare counts node by node; a slot that is nobody's counts nothing."""
    names = dict(enumerate(cluster.nodes.names))
    for slot, number in enumerate(found.tolist()):
        name = names.get(slot, "")
        yield from _differ(column, f"{key} on {name or f'free slot {slot}'}", expected.get(name, 0), number)


def _value(table: ClassTable[Any], column: I32, slot: int) -> object:
    """What the number in a column means; None for no number, and for one that means nothing."""
    number = int(column[slot])
    return dict(table.items()).get(number)


def _named(cluster: Cluster, amounts: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, int]:
    """Pair amounts with the names of resources."""
    return _present(dict(zip(cluster.nodes.resources, amounts.tolist(), strict=True)))


def _present(amounts: Mapping[str, int]) -> dict[str, int]:
    """Leave out zeros: a resource that nobody takes need not be known."""
    return {name: amount for name, amount in amounts.items() if amount}
