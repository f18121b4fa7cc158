"""The barrier is passed when the scheduler has bound the probe to the marked node, and not before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from schedlab import timing
from schedlab.api import Object, Resource
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.operations.base import OperationError
from schedlab.runner.barrier import Barrier


class Cluster:
    """Client, recorder and scheduler: binds each probe to `choice`."""

    def __init__(self, choice: str) -> None:
        self.history = History()
        self.choice = choice
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[Any] = []
        self.probe: Object | None = None

    async def resource(self, api_version: str, kind: str) -> Resource:
        return Resource(api_version, kind, "pods", namespaced=True)

    async def caught_up(self, resource: Resource, version: int) -> None:
        """Writes are in the history at once."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Object | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "",
    ) -> Object:
        self.requests.append((method, path))
        self.bodies.append(body)
        if method == "POST" and body is not None:
            self.probe = {**body, "metadata": {**body["metadata"], "uid": "u", "resourceVersion": "1"}}
            self._tell("ADDED")
            if self.choice:
                asyncio.get_running_loop().call_soon(self._bind)
        if method == "DELETE":
            self._tell("DELETED")
        return self.probe or {}

    def _bind(self) -> None:
        assert self.probe is not None
        self.probe = {**self.probe, "spec": {**self.probe["spec"], "nodeName": self.choice}}
        self._tell("MODIFIED")

    def _tell(self, change: Any) -> None:
        assert self.probe is not None
        self.history.append(Revision(at=timing.now(), type=change, object=self.probe))


async def test_a_bound_probe_is_the_proof() -> None:
    """The mark comes first, the probe asks for it, tolerates everything, and is gone in the end."""
    cluster = Cluster("n1")
    await Barrier(cluster, cluster).pass_("n1", "my-scheduler", 5)  # type: ignore[arg-type]
    assert cluster.requests == [
        ("PATCH", "/api/v1/nodes/n1"),
        ("POST", "/api/v1/namespaces/schedlab-probe/pods"),
        ("DELETE", "/api/v1/namespaces/schedlab-probe/pods/probe-1"),
    ]
    mark, probe, _ = cluster.bodies
    assert mark == {"metadata": {"labels": {"schedlab/seen": "1"}}}
    assert probe["spec"]["nodeSelector"] == {"schedlab/seen": "1"}
    assert probe["spec"]["tolerations"] == [{"operator": "Exists"}]
    assert probe["spec"]["schedulerName"] == "my-scheduler"
    assert cluster.history.current.list("Pod") == []


async def test_no_mark_is_used_twice() -> None:
    """Else the second barrier would be passed by the first one's writes."""
    cluster = Cluster("n1")
    barrier = Barrier(cluster, cluster)  # type: ignore[arg-type]
    await barrier.pass_("n1", "s", 5)
    await barrier.pass_("n1", "s", 5)
    assert cluster.bodies[3] == {"metadata": {"labels": {"schedlab/seen": "2"}}}


async def test_without_node_affinity_the_mark_is_a_resource() -> None:
    """More of it each time, so that older marks do not suffice."""
    cluster = Cluster("n1")
    await Barrier(cluster, cluster).pass_("n1", "s", 5, by_resource=True)  # type: ignore[arg-type]
    assert cluster.requests[0] == ("PATCH", "/api/v1/nodes/n1/status")
    assert cluster.bodies[0]["status"]["allocatable"] == {"schedlab/seen": "1"}
    assert cluster.bodies[1]["spec"]["nodeSelector"] == {}
    assert cluster.bodies[1]["spec"]["containers"][0]["resources"]["requests"] == {"schedlab/seen": "1"}


@pytest.mark.parametrize(
    ("choice", "seen"),
    [("", "no scheduler has said anything"), ("n2", "bound to n2, where the mark is not")],
    ids=["nobody binds it", "it is bound where the mark is not"],
)
async def test_anything_else_is_an_error_and_the_probe_is_removed(choice: str, seen: str) -> None:
    """It says which node was not seen and what became of the probe."""
    cluster = Cluster(choice)
    with pytest.raises(OperationError, match=f"has not seen node n1: .*{seen}"):
        await Barrier(cluster, cluster).pass_("n1", "s", 0.05)  # type: ignore[arg-type]
    assert cluster.requests[-1][0] == "DELETE"
