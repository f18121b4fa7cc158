"""The client speaks plain objects, and every way of not getting an answer is an ApiError."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from schedlab.api import ApiError
from schedlab.api.client import Client
from schedlab.api.objects import kind_key, matches_labels, ref_of, version_of
from schedlab.api.patches import APPLY
from schedlab.errors import EnvironmentStartError

GROUP = {
    "groupVersion": "apps/v1",
    "resources": [
        {"name": "deployments", "kind": "Deployment", "namespaced": True},
        {"name": "deployments/scale", "kind": "Scale", "namespaced": True},
    ],
}


class Server:
    """Remembers what it was asked, and answers what it was told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        self.status = 200
        self.answer: bytes = b"{}"
        self.chunks: list[bytes] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.asked.append((request.method, request.path_qs, dict(request.headers), body))
        if not self.chunks:
            return web.Response(status=self.status, body=self.answer, content_type="application/json")
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in self.chunks:
            await response.write(chunk)
        return response


def kubeconfig(path: Path, server: str) -> Path:
    """A kubeconfig with a token."""
    file = path / "kubeconfig"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    file.write_text(json.dumps(config))
    return file


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[tuple[Server, Client]]:
    """A server on loopback and a client of it."""
    fake = Server()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", fake.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    client = await Client.connect(kubeconfig(tmp_path, f"http://{host}:{port}"))
    yield fake, client
    await client.close()
    await runner.cleanup()


async def test_a_request_carries_credentials_query_body_and_content_type(
    server: tuple[Server, Client],
) -> None:
    """And the answer is a plain object."""
    fake, client = server
    fake.answer = b'{"kind": "Pod", "unknown": {"field": 1}}'
    answer = await client.request(
        "PATCH", "/api/v1/x", query={"force": "true"}, body={"a": 1}, content_type=APPLY
    )
    assert answer == {"kind": "Pod", "unknown": {"field": 1}}
    method, path, headers, body = fake.asked[0]
    assert (method, path, json.loads(body)) == ("PATCH", "/api/v1/x?force=true", {"a": 1})
    assert headers["Content-Type"] == APPLY
    assert headers["Authorization"] == "Bearer secret"
    assert headers["User-Agent"] == "schedlab"


async def test_a_refusal_is_told_in_the_servers_words(server: tuple[Server, Client]) -> None:
    """With status and reason."""
    fake, client = server
    fake.status, fake.answer = 409, b'{"kind": "Status", "reason": "Conflict", "message": "it changed"}'
    with pytest.raises(ApiError, match=r"GET /api/v1/x: it changed \(409 Conflict\)") as failure:
        await client.request("GET", "/api/v1/x")
    assert (failure.value.status, failure.value.reason) == (409, "Conflict")


async def test_a_refusal_keeps_its_details(server: tuple[Server, Client]) -> None:
    """Causes, and when to try again."""
    fake, client = server
    details = {"retryAfterSeconds": 10, "causes": [{"message": "no room"}]}
    fake.status, fake.answer = 429, json.dumps({"kind": "Status", "details": details}).encode()
    with pytest.raises(ApiError) as failure:
        await client.request("POST", "/api/v1/x")
    assert failure.value.details == details


async def test_a_refusal_that_is_no_status_is_told_as_it_is(server: tuple[Server, Client]) -> None:
    """Proxies answer in plain text."""
    fake, client = server
    fake.status, fake.answer = 502, b"bad gateway"
    with pytest.raises(ApiError, match="bad gateway"):
        await client.request("GET", "/x")


async def test_no_answer_is_status_zero(tmp_path: Path) -> None:
    """Nobody listens there."""
    client = await Client.connect(kubeconfig(tmp_path, "http://127.0.0.1:1"))
    with pytest.raises(ApiError, match="no answer") as failure:
        await client.request("GET", "/x")
    assert failure.value.status == 0
    await client.close()


async def test_a_stream_gives_whole_lines(server: tuple[Server, Client]) -> None:
    """However the bytes arrive, and however long a line is."""
    fake, client = server
    long = b"x" * 300_000
    fake.chunks = [b"on", b"e\ntwo\n\n", long, b"\nhalf"]
    async with client.stream("/w", {"watch": "true"}, idle=5) as lines:
        found = [line async for line in lines]
    assert found == [b"one", b"two", long]


async def test_a_refused_stream_is_an_error(server: tuple[Server, Client]) -> None:
    """Before any line."""
    fake, client = server
    fake.status, fake.answer = 410, b'{"reason": "Expired", "message": "too old"}'
    with pytest.raises(ApiError) as failure:
        async with client.stream("/w", {}, idle=5):
            pass
    assert failure.value.status == 410


async def test_a_kind_is_looked_up_once_per_group_version(server: tuple[Server, Client]) -> None:
    """And knows its paths."""
    fake, client = server
    fake.answer = json.dumps(GROUP).encode()
    found = await client.resource("apps/v1", "Deployment")
    await client.resource("apps/v1", "Deployment")
    assert len(fake.asked) == 1
    assert found.key == "Deployment.apps"
    assert found.path("ns", "web", "scale") == "/apis/apps/v1/namespaces/ns/deployments/web/scale"
    assert found.path() == "/apis/apps/v1/deployments"
    with pytest.raises(ApiError, match="does not serve this kind"):
        await client.resource("apps/v1", "Scale")


async def test_an_unusable_kubeconfig_is_an_error_of_the_environment(tmp_path: Path) -> None:
    """With its path."""
    file = tmp_path / "kubeconfig"
    file.write_text("{}")
    with pytest.raises(EnvironmentStartError, match="kubeconfig"):
        await Client.connect(file)


def test_objects_are_named_and_ordered() -> None:
    """By kind without version, by number, by labels."""
    item = {"kind": "Pod", "metadata": {"name": "a", "resourceVersion": "12", "labels": {"x": "y", "z": ""}}}
    assert kind_key("v1", "Pod") == "Pod"
    assert kind_key("policy/v1", "PodDisruptionBudget") == "PodDisruptionBudget.policy"
    assert (version_of(item), version_of({})) == (12, 0)
    assert str(ref_of(item)) == "Pod a"
    assert matches_labels(item, {"x": "y"})
    assert not matches_labels(item, {"x": "z"})
    assert not matches_labels({}, {"x": "y"})
