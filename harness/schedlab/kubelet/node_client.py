"""Requests in the name of one node, so that rights and the audit log are as with a real kubelet.

The harness impersonates `system:node:NAME` of the group `system:nodes`, which gets the role that a kubelet
has; what that role forbids, a fake kubelet cannot do either.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedlab.api.client import STRATEGIC, ApiError, Client
from schedlab.api.objects import Object, ref_of

_GROUP = "system:nodes"
_BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "schedlab:nodes"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": _GROUP}],
}


async def give_rights(client: Client) -> None:
    """Let nodes do what kubelets may; more than once is no error.

    Raises:
        ApiError: the API server does not allow that.
    """
    await create_once(client, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", _BINDING)


async def create_once(client: Client, path: str, item: Object) -> None:
    """Create an object unless there is one of its name.

    Raises:
        ApiError: for any other reason.
    """
    try:
        await client.request("POST", path, body=item)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise


class NodeClient:
    """What a kubelet writes."""

    def __init__(self, client: Client, node: str) -> None:
        self._client = client
        self._headers: Mapping[str, str] = {
            "Impersonate-User": f"system:node:{node}",
            "Impersonate-Group": _GROUP,
        }

    async def patch_pod(self, pod: Object, change: Object) -> bool:
        """Change a pod's status; False if that pod is gone.

        Raises:
            ApiError: the server refuses.
        """
        ref = ref_of(pod)
        return await self._patch(f"/api/v1/namespaces/{ref.namespace}/pods/{ref.name}/status", change)

    async def patch_node(self, name: str, change: Object) -> bool:
        """Change a node's status; False if that node is gone.

        Raises:
            ApiError: the server refuses.
        """
        return await self._patch(f"/api/v1/nodes/{name}/status", change)

    async def create_event(self, event: Object) -> None:
        """Create an Event.

        Raises:
            ApiError: the server refuses.
        """
        path = f"/api/v1/namespaces/{event['metadata']['namespace']}/events"
        await self._client.request("POST", path, body=event, headers=self._headers)

    async def _patch(self, path: str, change: Object) -> bool:
        """Patch what is still there; 409 means another object of that name, which the uid tells."""
        try:
            await self._client.request(
                "PATCH", path, body=change, content_type=STRATEGIC, headers=self._headers
            )
        except ApiError as error:
            if error.status in (404, 409):
                return False
            raise
        return True
