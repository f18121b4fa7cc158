"""The control plane of the oracle leaves a case as it was laid."""

from __future__ import annotations

from schedlab.api.discovery import Resource
from schedlab.fuzz.oracle import cluster_spec, hold_volumes


class FakeClient:
    """An API server with the one role that lets schedulers write storage."""

    def __init__(self):
        self.role = {
            "metadata": {"name": "system:volume-scheduler"},
            "rules": [
                {"resources": ["persistentvolumes"], "verbs": ["get", "list", "patch", "update", "watch"]},
                {"resources": ["storageclasses"], "verbs": ["get", "list", "watch"]},
            ],
        }

    async def resource(self, api_version, kind):
        return Resource(api_version, kind, "clusterroles", namespaced=False)

    async def get(self, resource, namespace, name):
        assert name == self.role["metadata"]["name"]
        return self.role

    async def request(self, method, path, *, body):
        assert (method, path) == (
            "PUT",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:volume-scheduler",
        )
        self.role = body


async def test_schedulers_may_read_storage_and_not_write_it():
    client = FakeClient()
    await hold_volumes(client)
    assert [rule["verbs"] for rule in client.role["rules"]] == [["get", "list", "watch"]] * 2
    assert [rule["resources"] for rule in client.role["rules"]] == [["persistentvolumes"], ["storageclasses"]]


def test_no_controller_reacts_to_what_a_case_holds():
    spec = cluster_spec("x")
    off = spec.controller_flags["controllers"].split(",")
    assert {"-disruption-controller", "-persistentvolume-binder-controller"} <= set(off)
    assert spec.apiserver_flags["audit-log-path"] == ""
