"""Declared extenders answer as declared, and are configured as they are served."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import aiohttp
import msgspec
import pytest

from schedlab.api.errors import ApiError
from schedlab.runner.barrier import NAMESPACE
from schedlab.runner.extenders import Extenders
from schedlab.suite.extenders import ExtenderNeeds

NODES = {"a": {"grade": "a"}, "b": {"grade": "b"}, "c": {"grade": "c"}}
ITEMS = [{"metadata": {"name": name, "labels": labels}} for name, labels in NODES.items()]


class Api:
    """Takes bindings, and knows the nodes of this moment."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict]] = []
        self.refuse: ApiError | None = None
        self.nodes = ITEMS

    async def request(self, method, path, body=None):
        if self.refuse is not None:
            raise self.refuse
        if path == "/api/v1/nodes":
            return {"items": self.nodes}
        self.asked.append((path, body))
        return None


@asynccontextmanager
async def served(**fields):
    """A served extender: its configuration entry, what posts to a verb, and the API behind it."""
    api = Api()
    extenders = Extenders(api)
    [entry] = await extenders.serve([msgspec.convert(fields, ExtenderNeeds)])

    async def post(verb: str, seconds: float = 5.0, namespace: str = "test", **said):
        pod = {"metadata": {"namespace": namespace, "uid": "u"}}
        body = {"Pod": pod, "Nodes": None, "NodeNames": None, **said}
        limit = aiohttp.ClientTimeout(total=seconds)
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.post(f"{entry['urlPrefix']}/{verb}", json=body, ssl=False) as reply,
        ):
            return await reply.json() if reply.status == 200 else reply.status

    try:
        yield SimpleNamespace(entry=entry, post=post, api=api)
    finally:
        await extenders.close()


async def test_a_filter_keeps_and_refuses_nodes_by_their_labels():
    rules = {
        "keep": {"grade": "a"},
        "failed": [{"labels": {"grade": "b"}, "message": "no"}],
        "failedAndUnresolvable": [{"labels": {"grade": "c"}, "message": "never"}],
    }
    async with served(filter=rules, config={"nodeCacheCapable": True}) as ext:
        answer = await ext.post("filter", NodeNames=list(NODES))
        whole = await ext.post("filter", Nodes={"items": ITEMS})
    assert answer["NodeNames"] == ["a"]
    assert answer["FailedNodes"] == {"b": "no"}
    assert answer["FailedAndUnresolvableNodes"] == {"c": "never"}
    assert [node["metadata"]["name"] for node in whole["Nodes"]["items"]] == ["a"]
    assert ext.entry["filterVerb"] == "filter"
    assert ext.entry["nodeCacheCapable"] is True
    assert "weight" not in ext.entry


async def test_what_is_known_of_a_node_is_the_api_servers_state_when_asked():
    async with served(filter={"keep": {"grade": "a"}}, config={"nodeCacheCapable": True}) as ext:
        before = await ext.post("filter", NodeNames=["b"])
        ext.api.nodes = [{"metadata": {"name": "b", "labels": {"grade": "a"}}}]
        after = await ext.post("filter", NodeNames=["b"])
    assert (before["NodeNames"], after["NodeNames"]) == ([], ["b"])


async def test_scores_go_to_the_nodes_that_were_sent():
    async with served(prioritize={"scores": [{"labels": {"grade": "b"}, "score": 7}]}) as ext:
        assert await ext.post("prioritize", NodeNames=["a", "b"]) == [{"Host": "b", "Score": 7}]
        assert ext.entry["weight"] == 1


async def test_candidates_are_kept_or_robbed_of_their_victims():
    victims = {name: {"Pods": [{"metadata": {"uid": name}}], "NumPDBViolations": 1} for name in NODES}
    async with served(preempt={"keep": {"grade": "b"}}) as ext:
        answer = await ext.post("preempt", NodeNameToMetaVictims=None, NodeNameToVictims=victims)
        assert answer == {"NodeNameToMetaVictims": {"b": {"Pods": [{"UID": "b"}], "NumPDBViolations": 1}}}
    async with served(preempt={"noVictims": {"grade": "b"}}) as ext:
        meta = {"b": {"Pods": [{"UID": "b"}], "NumPDBViolations": 1}}
        answer = await ext.post("preempt", NodeNameToMetaVictims=meta)
        assert answer == {"NodeNameToMetaVictims": {"b": {"Pods": [], "NumPDBViolations": 0}}}


async def test_a_binding_is_written_with_a_note_who_did_it():
    said = {"PodName": "p", "PodNamespace": "test", "PodUID": "u", "Node": "a"}
    async with served(bind={}) as ext:
        assert await ext.post("bind", **said) == {"Error": ""}
        [(path, body)] = ext.api.asked
        assert path == "/api/v1/namespaces/test/pods/p/binding"
        assert body["metadata"]["annotations"] == {"schedlab/bound-by": "extender"}
        assert body["target"]["name"] == "a"
        ext.api.refuse = ApiError("POST /x", 409, "Conflict", "already bound")
        assert "already bound" in (await ext.post("bind", **said))["Error"]
    async with served(bind={"error": "not today"}) as ext:
        assert await ext.post("bind", **said) == {"Error": "not today"}
        assert ext.api.asked == []


async def test_misbehaviour_spares_the_probes_of_the_harness():
    """They show what the scheduler has seen, so they must be bound whatever a test does to its pods."""
    async with served(filter={"status": 503}) as ext:
        assert await ext.post("filter", NodeNames=["a"]) == 503
        assert (await ext.post("filter", NodeNames=["a"], namespace=NAMESPACE))["NodeNames"] == ["a"]
    async with served(filter={"silent": True}) as ext:
        with pytest.raises(asyncio.TimeoutError):
            await ext.post("filter", seconds=0.2, NodeNames=["a"])


async def test_a_verb_that_is_not_declared_is_neither_configured_nor_served():
    async with served(filter={}) as ext:
        assert "bindVerb" not in ext.entry
        assert await ext.post("bind") == 404


@pytest.mark.parametrize(
    ("how", "keys"),
    [
        ("verified", {"caData", "serverName"}),
        ("mutual", {"caData", "serverName", "certData", "keyData"}),
        ("insecure", {"insecure"}),
        ("untrusted", {"caData", "serverName"}),
    ],
)
async def test_tls_is_configured_as_it_is_served(how, keys):
    async with served(filter={}, https=how) as ext:
        assert ext.entry["urlPrefix"].startswith("https:")
        assert set(ext.entry["tlsConfig"]) == keys
        answer = await ext.post("filter", NodeNames=["a"])
        assert answer == 401 if how == "mutual" else answer["NodeNames"] == ["a"]
