"""Fake machines: v1 Node objects as a kubelet and NVIDIA's discovery would have registered them.

A profile (`manifests/nodes/NAME.yaml`) says what a kind of machine has; `render` makes one machine of it,
with a place in a zone and a rack. The API server stores the status of a node that is created with one, so
capacity, allocatable and InternalIP are there from the first moment; kwok's stages then make the node Ready
and keep it alive.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from schedlab import data, timing
from schedlab.errors import UsageError

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
ISLAND = "topology.schedlab/island"
RACK = "topology.schedlab/rack"
CLIQUE = "nvidia.com/gpu.clique"
PROFILE = "schedlab/profile"
KUBELET = "schedlab/kubelet"
"""The annotation about a kubelet that does not work: `stopped` reports nothing, `silent` does nothing."""
_REGION_NAME = "lab"
_ADDRESSES = ipaddress.ip_network("10.128.0.0/9")
_GROUP = re.compile(r"(?P<profile>[a-z0-9][a-z0-9.-]*)=(?P<count>[0-9]+)")
_FIELDS = {"labels", "capacity", "reserved", "taints", "annotations", "nvlink"}
_NVLINK = ("none", "node", "rack")

_CONDITIONS = (
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
)

Taint = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """So many machines of one kind."""

    profile: str
    count: int
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Taint] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of machine: what it has, what its system keeps for itself, how discovery labels it.

    `nvlink` is how far the GPUs' own network reaches: not at all, through the machine, or through its rack.
    """

    name: str
    labels: Mapping[str, str]
    capacity: Mapping[str, str]
    reserved: Mapping[str, str]
    taints: Sequence[Taint]
    annotations: Mapping[str, str]
    nvlink: str = "none"

    @property
    def allocatable(self) -> dict[str, str]:
        """What pods can use: the capacity without what is reserved, per resource."""
        return {name: _minus(amount, self.reserved.get(name)) for name, amount in self.capacity.items()}


def parse_groups(text: str) -> list[NodeGroup]:
    """The node groups in `h100x8=4,cpu-32=2`, in that order.

    Raises:
        UsageError: for a malformed part, an unknown profile, or a profile given twice.
    """
    groups: list[NodeGroup] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        match = _GROUP.fullmatch(part)
        if match is None:
            raise UsageError(f"{part!r} is not PROFILE=COUNT", hint="write for example h100x8=4,cpu-32=2")
        profile(match["profile"])
        if any(group.profile == match["profile"] for group in groups):
            raise UsageError(f"profile {match['profile']} is given twice", hint="add the counts up")
        groups.append(NodeGroup(match["profile"], int(match["count"])))
    return groups


def profiles() -> list[str]:
    """The names of all profiles."""
    return sorted(path.stem for path in data.path("manifests/nodes").glob("*.yaml"))


def profile(name: str) -> Profile:
    """The profile `name` of `manifests/nodes`, or of a file if `name` is the path of one.

    Raises:
        UsageError: there is no such profile, or its file is malformed.
    """
    if name.endswith((".yaml", ".yml")):
        return load_profile(Path(name))
    if name not in profiles():
        known = ", ".join(profiles())
        raise UsageError(
            f"there is no node profile {name!r}", hint=f"use one of {known}, or the path of a file"
        )
    return _shipped(name)


@cache
def _shipped(name: str) -> Profile:
    return load_profile(data.path("manifests/nodes") / f"{name}.yaml")


def load_profile(path: Path) -> Profile:
    """Read a profile from a file.

    Raises:
        UsageError: the file is missing, is not YAML, or has a wrong or unknown field; the message names it.
    """
    try:
        document = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: cannot be read as YAML: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != "NodeProfile":
        raise UsageError(
            f"{path}: kind is not NodeProfile", hint="see manifests/nodes/cpu-32.yaml for an example"
        )
    name, spec = (document.get("metadata") or {}).get("name"), document.get("spec") or {}
    if not isinstance(name, str):
        raise UsageError(f"{path}: metadata.name is missing", hint="it becomes the nodes' profile label")
    for unknown in sorted(set(spec) - _FIELDS):
        raise UsageError(f"{path}: spec.{unknown} is unknown", hint=f"spec has {', '.join(sorted(_FIELDS))}")
    for resource in ("cpu", "memory", "ephemeral-storage", "pods"):
        if resource not in spec.get("capacity", {}):
            raise UsageError(f"{path}: spec.capacity.{resource} is missing", hint="every kubelet reports it")
    if spec.get("nvlink", "none") not in _NVLINK:
        raise UsageError(f"{path}: spec.nvlink is {spec['nvlink']!r}", hint=f"it is {', '.join(_NVLINK)}")
    return Profile(
        name=name,
        labels=_strings(path, spec, "labels"),
        capacity=_strings(path, spec, "capacity"),
        reserved=_strings(path, spec, "reserved"),
        taints=spec.get("taints", ()),
        annotations=_strings(path, spec, "annotations"),
        nvlink=spec.get("nvlink", "none"),
    )


def _strings(path: Path, spec: Mapping[str, Any], key: str) -> dict[str, str]:
    values: Mapping[str, Any] = spec.get(key) or {}
    for name, value in values.items():
        if not isinstance(value, str):
            raise UsageError(f"{path}: spec.{key}.{name} is {value!r}, not a string", hint="put it in quotes")
    return dict(values)


def expand(groups: Sequence[NodeGroup], *, zones: int = 1, racks: int = 0) -> Iterator[dict[str, Any]]:
    """The Node objects of `groups`, named PROFILE-0, PROFILE-1, …, dealt out over zones and their racks.

    Each group starts again at the first zone, so every zone gets its share of every kind of machine.
    """
    for group in groups:
        for index in range(group.count):
            zone = f"zone-{index % zones}" if zones else ""
            rack = f"{zone or 'lab'}-rack-{index // max(zones, 1) % racks}" if racks else ""
            yield render(
                group.profile,
                f"{Path(group.profile).stem}-{index}",
                zone=zone,
                rack=rack,
                labels=group.labels,
                taints=group.taints,
            )


def render(
    profile_name: str,
    name: str,
    *,
    zone: str = "",
    island: str = "",
    rack: str = "",
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] = (),
    annotations: Mapping[str, str] | None = None,
    capacity: Mapping[str, str] | None = None,
    unschedulable: bool = False,
    address: str = "",
    ready: bool = False,
) -> dict[str, Any]:
    """One machine as a v1 Node object that kwok will keep alive.

    `labels`, `annotations` and `capacity` win over the profile's; a resource given in `capacity` is
    allocatable in full. `taints` are added to the profile's. Without an `address` the name decides it. One
    that is `ready` has its first status report made; otherwise kwok makes it a moment later.
    """
    machine = profile(profile_name)
    given = dict(capacity or {})
    spec: dict[str, Any] = {"providerID": f"schedlab://{_REGION_NAME}/{name}"}
    if all_taints := [dict(taint) for taint in (*machine.taints, *taints)]:
        spec["taints"] = all_taints
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**_place(machine, name, zone, island, rack), **machine.labels, **(labels or {})},
            "annotations": {
                "kwok.x-k8s.io/node": "fake",
                "node.alpha.kubernetes.io/ttl": "0",
                **machine.annotations,
                **(annotations or {}),
            },
        },
        "spec": spec,
        "status": {
            "capacity": {**machine.capacity, **given},
            "allocatable": {**machine.allocatable, **given},
            "addresses": [
                {"type": "InternalIP", "address": address or internal_ip(name)},
                {"type": "Hostname", "address": name},
            ],
            **(_first_report(machine) if ready else {}),
        },
    }


def _first_report(machine: Profile) -> dict[str, Any]:
    """What the stage node-initialize would write: for a fleet, in which that is one write per node less.

    Without it thousands of nodes wait for kwok, are found silent meanwhile, and get more writes for that.
    """
    now = timing.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    return {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": status, "reason": reason, "message": message, **times}
            for kind, status, reason, message in _CONDITIONS
        ],
        "nodeInfo": {
            "architecture": machine.labels.get("kubernetes.io/arch", "amd64"),
            "containerRuntimeVersion": "containerd://2.2.0",
            "kernelVersion": "6.8.0",
            "kubeletVersion": "v1.36.3",
            "operatingSystem": "linux",
            "osImage": "fake",
            **dict.fromkeys(("bootID", "kubeProxyVersion", "machineID", "systemUUID"), ""),
        },
    }


def _place(machine: Profile, name: str, zone: str, island: str, rack: str) -> dict[str, str]:
    place = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "type": "kwok",
        PROFILE: machine.name,
    }
    if zone:
        place |= {ZONE: zone, REGION: _REGION_NAME}
    if island:
        place[ISLAND] = island
    if rack:
        place[RACK] = rack
        if machine.nvlink == "rack":
            place[CLIQUE] = clique(rack)
    return place


def clique(rack: str) -> str:
    """The label by which GPU feature discovery names the NVLink domain of a rack: CLUSTER.CLIQUE."""
    return f"{uuid.uuid5(uuid.NAMESPACE_DNS, rack)}.0"


def address(number: int) -> str:
    """The address of the machine of that number: no two of a fleet share one."""
    return str(_ADDRESSES[1 + number])


def internal_ip(name: str) -> str:
    """An address in 10.128.0.0/9 that depends on the name alone, so a node that comes back keeps it."""
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return str(_ADDRESSES[1 + digest % (_ADDRESSES.num_addresses - 2)])


_SUFFIXES = {"": 1000, "m": 1, "Ki": 1000 << 10, "Mi": 1000 << 20, "Gi": 1000 << 30, "Ti": 1000 << 40}


def _minus(amount: str, reserved: str | None) -> str:
    """`amount` less `reserved` in the largest unit that keeps it whole."""
    if reserved is None:
        return amount
    rest = _thousandths(amount) - _thousandths(reserved)
    unit = next(unit for unit in ("Ti", "Gi", "Mi", "Ki", "", "m") if rest % _SUFFIXES[unit] == 0)
    return f"{rest // _SUFFIXES[unit]}{unit}"


def _thousandths(quantity: str) -> int:
    match = re.fullmatch(r"(\d+)(m|[KMGT]i)?", quantity)
    if match is None:
        raise UsageError(
            f"{quantity!r} is not a quantity that a node profile can reserve",
            hint="write a whole number with one of m, Ki, Mi, Gi, Ti, or none",
        )
    return int(match[1]) * _SUFFIXES[match[2] or ""]
