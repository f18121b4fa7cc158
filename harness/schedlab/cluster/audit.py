"""The audit policy: every write that a suite may ask about, with its body; never the content of a secret.

History and judge read it: who bound which pod when, who evicted, who held the lease, what was refused. The
first rule that matches decides, so what must not be logged comes first.
"""

from __future__ import annotations

from typing import Any

_WRITES = ["create", "update", "patch", "delete", "deletecollection"]


def policy(scheduler: str) -> dict[str, Any]:
    """The policy document; reads are recorded for `scheduler` alone, to find the requests refused to it."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "omitManagedFields": True,
        "rules": [
            {  # node heartbeats are most of the traffic and say nothing that the watch history does not
                "level": "None",
                "namespaces": ["kube-node-lease"],
                "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}],
            },
            {
                "level": "Metadata",
                "resources": [
                    {"group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"]},
                    {"group": "authentication.k8s.io"},
                    {"group": "certificates.k8s.io"},
                ],
            },
            {"level": "Request", "verbs": _WRITES, "resources": _recorded()},
            {"level": "Metadata", "users": [scheduler]},
            {"level": "Metadata", "verbs": _WRITES},
            {"level": "None"},
        ],
    }


def _recorded() -> list[dict[str, Any]]:
    core = ["pods", "pods/*", "nodes", "nodes/*", "bindings", "events", "namespaces"]
    return [
        {"group": "", "resources": [*core, "persistentvolumeclaims", "persistentvolumes"]},
        {"group": "events.k8s.io"},
        {"group": "coordination.k8s.io"},
        {"group": "policy"},
        {"group": "scheduling.k8s.io"},
        {"group": "resource.k8s.io"},
    ]
