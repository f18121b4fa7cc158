"""Storage as administrators and controllers leave it: classes, drivers, capacities, volumes, claims.

Claims are bound, or wait for their first consumer, or can only wait: no controller finishes a binding here.
"""

from __future__ import annotations

from schedlab.fuzz.blueprint import HOSTNAME, ZONE, Blueprint
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object

DRIVER = "disk.example.com"
#: Class: provisioner and binding mode. `lost` is asked for, but no such class exists.
CLASSES = {
    "standard": (DRIVER, "Immediate"),
    "local": ("kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
    "dynamic": (DRIVER, "WaitForFirstConsumer"),
}
_BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
_SELECTED = "volume.kubernetes.io/selected-node"
_SIZES = ("500Mi", "1Gi", "2Gi", "5G")


def draw_cluster(draw: Draw, plan: Blueprint) -> None:
    """Classes, the driver and what it has room for, and how much each node can attach."""
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": draw.some(("z1", "z2", "z3"), 1, 2)}]}]
    for name, (provisioner, mode) in CLASSES.items():
        made = _object("storage.k8s.io/v1", "StorageClass", name)
        plan.others.append({**made, "provisioner": provisioner, "volumeBindingMode": mode})
        if name == "dynamic" and draw.chance(0.3):
            plan.others[-1]["allowedTopologies"] = topologies
    if draw.chance(0.8):
        made = _object("storage.k8s.io/v1", "CSIDriver", DRIVER)
        plan.others.append({**made, "spec": {"storageCapacity": draw.chance(0.7)}})
    for index in range(draw.between(0, 4)):
        plan.others.append(_capacity(draw, plan, index))
    for node in plan.node_names:
        if draw.chance(0.7):
            driver: Object = {"name": DRIVER, "nodeID": node}
            if draw.chance(0.9):
                driver["allocatable"] = {"count": draw.pick((1, 1, 2, 3))}
            made = _object("storage.k8s.io/v1", "CSINode", node)
            plan.others.append({**made, "spec": {"drivers": [driver]}})
    for index in range(draw.between(1, 6)):
        plan.others.append(_free_volume(draw, plan, index))


def draw_claim(draw: Draw, plan: Blueprint, index: int, namespace: str) -> list[Object]:
    """A claim in any of the states that claims can be in, with its volume if it has one."""
    mode = draw.weighted({"ReadWriteOnce": 5, "ReadWriteMany": 2, "ReadWriteOncePod": 3})
    size = {"storage": draw.pick(_SIZES)}
    claim = _object("v1", "PersistentVolumeClaim", f"claim-{index}", namespace)
    kind = draw.weighted({"bound": 5, "local": 3, "dynamic": 3, "promised": 1, "immediate": 1, "astray": 1})
    name = {"promised": "dynamic", "local": "local", "dynamic": "dynamic"}.get(kind, "standard")
    claim["spec"] = {"accessModes": [mode], "storageClassName": name, "resources": {"requests": size}}
    if kind == "local" and draw.chance(0.2):
        claim["spec"]["selector"] = {"matchLabels": {"grade": "gold"}}
    if kind == "promised":
        claim["metadata"]["annotations"] = {_SELECTED: draw.pick(plan.node_names)}
    if kind == "astray":
        _lead_astray(draw, claim)
    if kind != "bound":
        return [claim]
    claim["metadata"]["annotations"] = dict(_BOUND)
    claim["spec"]["volumeName"] = f"volume-{index}"
    claim["status"] = {"phase": "Bound", "accessModes": [mode], "capacity": size}
    return [claim, _bound_volume(draw, plan, index, claim)]


def _lead_astray(draw: Draw, claim: Object) -> None:
    """Claims that nothing can be done about."""
    how = draw.pick(("no class", "lost class", "lost volume", "half bound"))
    if how == "no class":
        claim["spec"]["storageClassName"] = ""
    elif how == "lost class":
        claim["spec"]["storageClassName"] = "lost"
    else:
        claim["spec"]["volumeName"] = "gone"
        if how == "lost volume":
            claim["metadata"]["annotations"] = dict(_BOUND)
            claim["status"] = {"phase": draw.pick(("Bound", "Lost"))}


def _bound_volume(draw: Draw, plan: Blueprint, index: int, claim: Object) -> Object:
    meta, spec = claim["metadata"], claim["spec"]
    labels = {ZONE: draw.pick(("z1", "z2", "z1__z2"))} if draw.chance(0.5) else {}
    volume = _volume(f"volume-{index}", labels, spec["storageClassName"], spec["resources"]["requests"])
    volume["spec"] |= {"accessModes": spec["accessModes"], "claimRef": _reference(meta)}
    volume["status"] = {"phase": "Bound"}
    if draw.chance(0.5):
        _tie(draw, plan, volume)
    return volume


def _free_volume(draw: Draw, plan: Blueprint, index: int) -> Object:
    """A volume made by hand; sizes are distinct, since among equal ones the reference takes any."""
    labels = {"grade": draw.pick(("gold", "tin"))} if draw.chance(0.5) else {}
    size = {"storage": f"{draw.pick((0, 1, 2, 4)) * 1024 + 600 + index}Mi"}
    volume = _volume(f"free-{index}", labels, "local", size)
    modes = (["ReadWriteOncePod"], ["ReadWriteMany"], ["ReadWriteOnce"], ["ReadWriteOnce", "ReadWriteMany"])
    volume["spec"]["accessModes"] = draw.pick(modes)
    volume["status"] = {"phase": draw.weighted({"Available": 8, "Released": 1})}
    if draw.chance(0.1):
        volume["spec"]["claimRef"] = _reference(
            {"namespace": draw.pick(plan.namespaces), "name": f"claim-{draw.between(0, 9)}"}
        )
    if draw.chance(0.85):
        _tie(draw, plan, volume)
    return volume


def _tie(draw: Draw, plan: Blueprint, volume: Object) -> None:
    """Let only some nodes reach the volume."""
    if draw.chance(0.5):
        wanted = {"key": ZONE, "operator": "In", "values": draw.some(("z1", "z2", "z3"), 1, 2)}
    else:
        wanted = {"key": HOSTNAME, "operator": "In", "values": draw.some(plan.node_names, 1, 3)}
    terms = [{"matchExpressions": [wanted]}]
    volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}


def _capacity(draw: Draw, plan: Blueprint, index: int) -> Object:
    made = _object("storage.k8s.io/v1", "CSIStorageCapacity", f"room-{index}", "default")
    made |= {"storageClassName": draw.pick(("dynamic", "dynamic", "standard"))}
    if draw.chance(0.9):
        node = {"matchLabels": {HOSTNAME: draw.pick(plan.node_names)}}
        zone = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [draw.pick(("z1", "z2"))]}]}
        made["nodeTopology"] = draw.pick((node, zone, zone, {}))
    if draw.chance(0.9):
        made["capacity"] = draw.pick(("0", "1Gi", "1500Mi", "100Gi"))
    if draw.chance(0.3):
        made["maximumVolumeSize"] = draw.pick(("600Mi", "2Gi"))
    return made


def _volume(name: str, labels: dict[str, str], storage_class: str, size: dict[str, str]) -> Object:
    volume = _object("v1", "PersistentVolume", name)
    volume["metadata"]["labels"] = labels
    volume["spec"] = {
        "capacity": size,
        "storageClassName": storage_class,
        "csi": {"driver": DRIVER, "volumeHandle": f"handle-{name}"},
    }
    return volume


def _reference(meta: Object) -> Object:
    kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return {**kind, "namespace": meta["namespace"], "name": meta["name"]}


def _object(version: str, kind: str, name: str, namespace: str = "") -> Object:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta}
