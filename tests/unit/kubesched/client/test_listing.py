"""A cluster at one moment."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, listing, node, running, status

from kubesched.api.original import original
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lanes
from kubesched.client.listing import fetch, read, snapshot
from kubesched.client.resources import NODES, PODS
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken


@pytest.fixture
async def world():
    """A server, a client and the lane for reading."""
    async with running() as server:
        clock = SkippingClock()
        rest = RestClient(Endpoint(server.url, StaticToken(None)), clock, user_agent="test")
        yield server, rest, Lanes(clock, qps=-1, burst=1, lease_timeout=5).read
        await rest.close()


async def test_a_list_has_its_version_its_objects_and_the_keys_of_broken_ones(world):
    server, rest, lane = world
    broken = {"metadata": {"name": "bad", "namespace": "n"}, "spec": {"taints": "none"}}
    server.lists.append(listing("10", node("a", "5"), broken))
    found = await fetch(rest, NODES, lane)
    assert (found.version, [obj.name for obj in found.objects], found.broken) == ("10", ["a"], ["n/bad"])


async def test_what_is_no_list_is_no_answer(world):
    server, rest, lane = world
    server.lists.append(answer(200, b"<html>"))
    with pytest.raises(UnreachableError, match="not a list"):
        await fetch(rest, NODES, lane)


async def test_a_snapshot_leaves_out_what_is_not_served(world):
    server, rest, lane = world
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
    server.lists.extend([answer(404, b"404 page not found"), listing("10", pod)])
    found = await snapshot(rest, lane, [NODES, PODS])
    assert [obj.key for obj in found] == ["n/p"]
    assert [request.params["resourceVersion"] for request in server.requests] == ["", ""], "the newest"


async def test_a_snapshot_that_may_not_be_taken_fails(world):
    server, rest, lane = world
    server.lists.append(answer(403, status(403, "Forbidden", "no")))
    with pytest.raises(ApiError, match="no"):
        await snapshot(rest, lane, [NODES])


@pytest.mark.parametrize("whole", [True, False])
def test_an_object_is_kept_whole_where_an_extender_wants_it(whole):
    """Otherwise only what a scheduler reads is held."""
    raw = msgspec.Raw(b'{"metadata":{"name":"n"},"status":{"nodeInfo":{"osImage":"x"}}}')
    node = read("Node", raw, whole=whole)
    assert (b"osImage" in bytes(original(node))) is whole
