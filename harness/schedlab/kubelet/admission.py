"""Pods of a test with kubelets start only when their kubelet has admitted them.

kwok starts whatever is bound. So each pod is marked when it is created, by a policy in the API server, which
also reaches those that controllers make; a kubelet that admits a pod takes the mark away.
"""

from __future__ import annotations

from schedlab import timing
from schedlab.api.client import Client
from schedlab.errors import EnvironmentStartError
from schedlab.kubelet.kubelet import AWAITED
from schedlab.kubelet.node_client import create_once

NAMESPACE_LABELS = {"schedlab/kubelets": "declared"}
"""Labels of a namespace whose pods are marked."""

_GROUP = "admissionregistration.k8s.io/v1"
_NAME = "schedlab-kubelet"
_SECONDS = 15.0  # a new policy is in force after a second or two

_MARK = ", ".join(f'"{key}": "{value}"' for key, value in AWAITED.items())
_POLICY = {
    "apiVersion": _GROUP,
    "kind": "MutatingAdmissionPolicy",
    "metadata": {"name": _NAME},
    "spec": {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": NAMESPACE_LABELS},
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ],
        },
        "mutations": [
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {
                    "expression": f"Object{{metadata: Object.metadata{{annotations: {{{_MARK}}}}}}}"
                },
            }
        ],
    },
}
_BINDING = {
    "apiVersion": _GROUP,
    "kind": "MutatingAdmissionPolicyBinding",
    "metadata": {"name": _NAME},
    "spec": {"policyName": _NAME},
}
_PROBE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "probe"},
    "spec": {"containers": [{"name": "probe", "image": "probe"}]},
}


async def mark_new_pods(client: Client, namespace: str) -> None:
    """Have each new pod of a namespace that carries the labels marked; returns once that is so.

    Raises:
        ApiError: the API server has no such policies.
        EnvironmentStartError: the policy does not take effect.
    """
    await create_once(client, f"/apis/{_GROUP}/mutatingadmissionpolicies", _POLICY)
    await create_once(client, f"/apis/{_GROUP}/mutatingadmissionpolicybindings", _BINDING)

    async def marked() -> bool | None:
        path = f"/api/v1/namespaces/{namespace}/pods"
        stored = await client.request("POST", path, query={"dryRun": "All"}, body=_PROBE)
        found = stored["metadata"].get("annotations") or {}
        return True if AWAITED.items() <= found.items() else None

    if await timing.poll(marked, timing.Deadline.after(_SECONDS)) is None:
        raise EnvironmentStartError(
            "the API server does not mark the pods that kubelets must admit",
            hint=f"see the MutatingAdmissionPolicy {_NAME}; it needs kube-apiserver 1.36",
        )
