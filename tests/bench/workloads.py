"""The clusters and pods that the benchmarks and the hot path's guard schedule.

The workloads carry the names and shapes of scheduler_perf's (test/integration/scheduler_perf in 1.36): a pod
asks for 100m and 500Mi, and differs in its constraints. Objects are JSON as the API server stores them, nulls
included, and every pod is decoded anew, as from a watch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from kubesched.api.objects import Object, decode
from kubesched.testing.builders import HOSTNAME, ZONE

ZONES = 3
Spec = dict[str, Any]


def _basic(_app: str) -> Spec:
    return {}


def _spread(app: str) -> Spec:
    constraint = {
        "maxSkew": 5,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {"topologySpreadConstraints": [constraint]}


def _preferred_spread(app: str) -> Spec:
    constraint = _spread(app)["topologySpreadConstraints"][0]
    return {"topologySpreadConstraints": [{**constraint, "whenUnsatisfiable": "ScheduleAnyway"}]}


def _affinity(app: str) -> Spec:
    return {
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(app, ZONE)]}}
    }


def _anti_affinity(app: str) -> Spec:
    terms = [_term(app, HOSTNAME)]
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def _preferred(app: str) -> Spec:
    return {"affinity": {"podAffinity": _weighed(app), "podAntiAffinity": _weighed("elsewhere")}}


def _node_affinity(_app: str) -> Spec:
    wanted = {"key": ZONE, "operator": "In", "values": ["zone-0", "zone-1"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def _weighed(app: str) -> Spec:
    return {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": _term(app, HOSTNAME)}
        ]
    }


def _term(app: str, key: str) -> Spec:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


WORKLOADS: dict[str, Callable[[str], Spec]] = {
    "basic": _basic,
    "nodeaffinity": _node_affinity,
    "spread": _spread,
    "preferredspread": _preferred_spread,
    "affinity": _affinity,
    "antiaffinity": _anti_affinity,
    "preferred": _preferred,
}
"""What a pod of an app has in its spec beside its container."""


def nodes(count: int) -> Iterator[Object]:
    """The nodes, decoded."""
    return (_decoded(content) for content in node_content(count))


def node_content(count: int) -> Iterator[Spec]:
    """Nodes of 32 cpus and 110 pods, in three zones, as JSON has them."""
    amounts = {"cpu": "32", "memory": "128Gi", "ephemeral-storage": "100Gi", "pods": "110"}
    for number in range(count):
        name = f"node-{number}"
        labels = {HOSTNAME: name, ZONE: f"zone-{number % ZONES}", "kubernetes.io/os": "linux"}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": labels, "creationTimestamp": None},
            "spec": {},
            "status": {"capacity": amounts, "allocatable": amounts},
        }


def existing(workload: str, count: int, node_count: int) -> Iterator[Object]:
    """Pods of the workload that are on nodes already, evenly.

    They form apps that are as large as hostname anti-affinity allows, at most half as many pods as nodes.
    """
    size = max(node_count // 2, 1)
    for number in range(count):
        node = f"node-{number % node_count}"
        yield pod(workload, f"old-{number}", app=f"app-{number // size}", node=node)


def pod(workload: str, name: str, *, app: str = "app-0", node: str = "") -> Object:
    """One pod of an app, decoded; with a node, it runs there."""
    return _decoded(pod_content(workload, name, app=app, node=node))


def pod_content(workload: str, name: str, *, app: str = "app-0", node: str = "") -> Spec:
    """One pod as JSON has it."""
    spec = {
        "containers": [
            {
                "name": "pause",
                "image": "registry.k8s.io/pause:3.10",
                "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}},
                "terminationMessagePolicy": "File",
            }
        ],
        "schedulerName": "default-scheduler",
        "restartPolicy": "Always",
        "tolerations": [
            {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute"}
            for state in ("not-ready", "unreachable")
        ],
        **WORKLOADS[workload](app),
        **({"nodeName": node} if node else {}),
    }
    meta = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "labels": {"app": app},
        "creationTimestamp": None,
    }
    status = {"phase": "Running" if node else "Pending", "qosClass": "Burstable"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def _decoded(content: Spec) -> Object:
    return decode(content["kind"], json.dumps(content).encode())
