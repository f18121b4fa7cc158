"""Turns a recorded state back into a plan, so that one decision can be asked for again on its own.

What the API server writes by itself is taken off: it would be refused on creation, or would come back anyway.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Final

from schedlab.decisions.corpus import Question
from schedlab.fuzz.plan import Object, Plan

_SERVER_METADATA = ("uid", "creationTimestamp", "generation", "resourceVersion", "deletionGracePeriodSeconds")


#: What the API server fills in and no scheduler reads; taken off where it says no more than that.
_DEFAULTS: Final[Object] = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
_CONTAINER_DEFAULTS: Final[Object] = {
    "imagePullPolicy": "IfNotPresent",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}


def plan_of(question: Question, *, timed: bool = False) -> Plan:
    """A plan with the question's state and the one pod; no plan brings nominated pods about."""
    return planned(question.objects, question.pod, timed=timed)


def planned(objects: Iterable[Object], pod: Object, *, timed: bool = False) -> Plan:
    """A plan that lays these recorded objects out anew and lets the pod arrive."""
    return Plan(
        objects=tuple(creatable(obj) for obj in objects if not is_pending(obj)),
        arrivals=(creatable(pod),),
        timed=timed,
        source="replayed",
    )


def is_pending(obj: Object) -> bool:
    """True for a pod on no node; only a scheduler can be made to leave one behind."""
    return bool(obj["kind"] == "Pod" and not obj["spec"].get("nodeName"))


def is_nominated(obj: Object) -> bool:
    """True for a pending pod that a node has been promised to; others count for nobody."""
    return is_pending(obj) and bool(obj.get("status", {}).get("nominatedNodeName"))


def creatable(stored: Object) -> Object:
    """The object as one would write it to get the stored one."""
    obj = copy.deepcopy(stored)
    for key in _SERVER_METADATA:
        obj["metadata"].pop(key, None)
    status = obj.get("status", {})
    status.pop("conditions", None)
    if obj["kind"] == "Pod":
        kept = {key: status[key] for key in ("phase", "startTime") if key in status}
        obj["status"] = kept if obj["spec"].get("nodeName") else {}
        _unmerge_label_keys(obj["spec"])
        _undefault(obj["spec"])
    if obj["kind"] == "Node":
        for key in ("nodeInfo", "daemonEndpoints"):
            status.pop(key, None)
    if obj["kind"] == "Namespace":
        obj.pop("status", None)
        obj.pop("spec", None)
    if obj["kind"] == "Service":
        obj["spec"] = {
            key: obj["spec"][key] for key in ("clusterIP", "selector", "ports") if key in obj["spec"]
        }
        obj.pop("status", None)
    return obj


def _undefault(spec: Object) -> None:
    """Take off what the API server filled in, for short manifests."""
    holders = [(spec, _DEFAULTS)]
    containers = (*spec["containers"], *spec.get("initContainers", ()))
    holders += [(container, _CONTAINER_DEFAULTS) for container in containers]
    for holder, defaults in holders:
        for key, value in defaults.items():
            if holder.get(key) == value:
                del holder[key]


def _unmerge_label_keys(spec: Object) -> None:
    """Take out of selectors what the API server merged in for (mis)matchLabelKeys, and would again."""
    affinity = spec.get("affinity", {})
    kinds = (affinity.get("podAffinity", {}), affinity.get("podAntiAffinity", {}))
    terms = [
        term for kind in kinds for term in kind.get("requiredDuringSchedulingIgnoredDuringExecution", ())
    ]
    for kind in kinds:
        weighted = kind.get("preferredDuringSchedulingIgnoredDuringExecution", ())
        terms += [one["podAffinityTerm"] for one in weighted]
    for term in (*terms, *spec.get("topologySpreadConstraints", ())):
        merged = {(key, "In") for key in term.get("matchLabelKeys", ())}
        merged |= {(key, "NotIn") for key in term.get("mismatchLabelKeys", ())}
        selector = term.get("labelSelector") or {}
        expressions = selector.get("matchExpressions")
        if merged and expressions:
            selector["matchExpressions"] = [
                one for one in expressions if (one["key"], one["operator"]) not in merged
            ]


def summary(objects: Sequence[Object]) -> str:
    """How many objects of each kind, for people: `3 Node, 1 Pod`."""
    kinds: dict[str, int] = {}
    for obj in objects:
        kinds[obj["kind"]] = kinds.get(obj["kind"], 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing"
