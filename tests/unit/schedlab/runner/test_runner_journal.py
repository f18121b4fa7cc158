"""Whatever a test creates is undone in reverse; what stays is reported with what holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from schedlab import timing
from schedlab.api import ApiError, Object, Ref, Resource
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.runner.journal import Journal

POD: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w"}}
NODE: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}


class Cluster:
    """An API server, a client and a recorder in one: writes are in the history at once."""

    def __init__(self) -> None:
        self.history = History()
        self.requests: list[str] = []
        self.bodies: list[Any] = []
        self.queries: list[Mapping[str, str] | None] = []
        self.objects: dict[str, Object] = {}
        self.finalizers: list[str] = []
        self._version = 0

    async def resource(self, api_version: str, kind: str) -> Resource:
        if kind == "Unknown":
            raise ApiError(kind, 404, "NotFound", "the API server does not serve this kind")
        return Resource(api_version, kind, f"{kind.lower()}s", namespaced=kind != "Node")

    async def include(self, resource: Resource) -> None:
        self.requests.append(f"WATCH {resource.plural}")

    async def caught_up(self, resource: Resource, version: int) -> None:
        assert version <= self._version

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Object | None = None,
        content_type: str = "",
    ) -> Object:
        self.requests.append(f"{method} {path}")
        self.bodies.append(body)
        self.queries.append(query)
        if method == "DELETE":
            self._delete(path)
            return {}
        assert body is not None
        return self._store(body)

    def _store(self, body: Object) -> Object:
        self._version += 1
        metadata = {**body["metadata"], "uid": f"uid-{self._version}", "resourceVersion": str(self._version)}
        stored = {**body, "metadata": {**metadata, "finalizers": self.finalizers}}
        self.objects[body["metadata"]["name"]] = stored
        self.history.append(Revision(at=timing.now(), type="ADDED", object=stored))
        return stored

    def _delete(self, path: str) -> None:
        name = path.rsplit("/", 1)[1]
        if name not in self.objects:
            raise ApiError(path, 404, "NotFound", "gone")
        if not self.finalizers:
            self.history.append(Revision(at=timing.now(), type="DELETED", object=self.objects.pop(name)))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def journal(cluster: Cluster) -> Journal:
    return Journal(cluster, cluster, "ns")  # type: ignore[arg-type]


def soon() -> timing.Deadline:
    return timing.Deadline.after(0.05)


async def test_the_namespace_is_added_where_it_is_absent(cluster: Cluster, journal: Journal) -> None:
    """Not to cluster-scoped objects, nor where one is named."""
    await journal.create(POD)
    await journal.create(NODE)
    await journal.create({**POD, "metadata": {"name": "x", "namespace": "other"}})
    assert [request for request in cluster.requests if request.startswith("POST")] == [
        "POST /api/v1/namespaces/ns/pods",
        "POST /api/v1/nodes",
        "POST /api/v1/namespaces/other/pods",
    ]
    assert POD["metadata"] == {"name": "w"}


async def test_a_kind_is_in_the_record_before_it_is_written(cluster: Cluster, journal: Journal) -> None:
    """Else its first revision could be missed."""
    await journal.apply(POD)
    assert cluster.requests == ["WATCH pods", "PATCH /api/v1/namespaces/ns/pods/w"]


async def test_everything_is_undone_in_reverse(cluster: Cluster, journal: Journal) -> None:
    """Pods at once, since their grace would only be waited for."""
    await journal.create(NODE)
    await journal.create(POD)
    await journal.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}})
    assert await journal.undo(soon()) == []
    deletions = [(r, b) for r, b in zip(cluster.requests[-3:], cluster.bodies[-3:], strict=True)]
    assert [request for request, _ in deletions] == [
        "DELETE /api/v1/namespaces/ns/services/s",
        "DELETE /api/v1/namespaces/ns/pods/w",
        "DELETE /api/v1/nodes/n",
    ]
    assert [(body or {}).get("gracePeriodSeconds") for _, body in deletions] == [None, 0, None]


async def test_what_the_test_has_deleted_itself_is_no_leftover(cluster: Cluster, journal: Journal) -> None:
    """The server says 404."""
    stored = await journal.create(POD)
    cluster.objects.clear()
    cluster.history.append(Revision(at=timing.now(), type="DELETED", object=stored))
    assert await journal.undo(soon()) == []


async def test_what_does_not_go_is_reported_with_its_finalizers(cluster: Cluster, journal: Journal) -> None:
    """After the deadline, not for ever."""
    cluster.finalizers = ["example.com/hold"]
    await journal.create(POD)
    assert await journal.undo(soon()) == ["Pod ns/w (finalizers: example.com/hold)"]


async def test_a_kind_that_is_not_served_is_an_error(journal: Journal) -> None:
    """With the server's own words."""
    with pytest.raises(ApiError, match="does not serve this kind"):
        await journal.create({"apiVersion": "v1", "kind": "Unknown", "metadata": {"name": "x"}})


@pytest.mark.parametrize(("dry_run", "query"), [(True, {"dryRun": "All"}), (False, None)])
async def test_an_eviction_is_asked_for_at_the_pod(
    cluster: Cluster, journal: Journal, dry_run: bool, query: Mapping[str, str] | None
) -> None:
    """It is not remembered: there is nothing to undo."""
    eviction: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "w"}}
    await journal.evict(Ref("Pod", "w", "ns"), eviction, dry_run=dry_run)
    assert cluster.requests == ["POST /api/v1/namespaces/ns/pods/w/eviction"]
    assert (cluster.bodies, cluster.queries) == ([eviction], [query])
