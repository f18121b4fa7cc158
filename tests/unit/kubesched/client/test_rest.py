"""Requests and how their failures are told apart."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, drop, running, status

from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lanes
from kubesched.client.rest import RestClient
from kubesched.client.tokens import FileToken, StaticToken


@asynccontextmanager
async def client(tokens=None, **endpoint):
    async with running() as server:
        clock = SkippingClock()
        lanes = Lanes(clock, qps=-1, burst=1, lease_timeout=5)
        rest = RestClient(
            Endpoint(server.url, tokens or StaticToken(None), **endpoint), clock, user_agent="kubesched/test"
        )
        try:
            yield server, rest, lanes, clock
        finally:
            await rest.close()


async def test_an_answer_is_its_body():
    async with client() as (server, rest, lanes, _):
        server.lists.append(answer(200, b"hello"))
        assert await rest.get("/a", lanes.read, {"limit": "1"}) == b"hello"
        (request,) = server.requests
        assert (request.path, request.params) == ("/a", {"limit": "1"})
        assert request.headers["user-agent"] == "kubesched/test"
        assert request.headers["accept-encoding"] == "identity"
        assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("method", "content_type"),
    [
        ("post", "application/json"),
        ("put", "application/json"),
        ("patch", "application/strategic-merge-patch+json"),
    ],
)
async def test_a_write_carries_its_body_and_type(method, content_type):
    async with client() as (server, rest, lanes, _):
        server.writes.append(answer(200, b"{}"))
        await getattr(rest, method)("/a", lanes.bind, b'{"x":1}')
        (request,) = server.requests
        assert request.method == method.upper()
        assert request.json == {"x": 1}
        assert request.headers["content-type"] == content_type


async def test_a_refusal_carries_the_servers_words():
    async with client() as (server, rest, lanes, _):
        server.lists.append(answer(409, status(409, "AlreadyExists", "already there")))
        with pytest.raises(ApiError, match="already there") as refused:
            await rest.get("/a", lanes.read)
        error = refused.value
        assert (error.status, error.reason, error.conflict, error.not_found) == (
            409,
            "AlreadyExists",
            True,
            False,
        )


async def test_a_refusal_without_a_status_object_is_still_a_refusal():
    async with client() as (server, rest, lanes, _):
        server.lists.append(answer(502, b"<html>bad gateway</html>"))
        with pytest.raises(ApiError, match="bad gateway") as refused:
            await rest.get("/a", lanes.read)
        assert refused.value.status == 502


async def test_a_server_that_asks_to_wait_is_asked_again_after_that_long():
    async with client() as (server, rest, lanes, clock):
        server.writes.append(answer(429, status(429, "TooManyRequests"), Retry_After="3"))
        server.writes.append(answer(503, status(503, "ServiceUnavailable"), Retry_After="1"))
        server.writes.append(answer(201, b"{}"))
        await rest.post("/a", lanes.bind, b"{}")
        assert [seconds for seconds in clock.slept if seconds >= 1] == [3.0, 1.0]


async def test_a_server_that_asks_to_wait_for_ever_is_believed_ten_times():
    async with client() as (server, rest, lanes, _):
        server.writes.extend([answer(429, status(429, "TooManyRequests"), Retry_After="1")] * 12)
        with pytest.raises(ApiError):
            await rest.post("/a", lanes.bind, b"{}")
        assert len(server.requests) == 10


async def test_nothing_else_is_retried():
    async with client() as (server, rest, lanes, _):
        server.writes.append(answer(500, status(500, "InternalError", "etcd")))
        with pytest.raises(ApiError):
            await rest.post("/a", lanes.bind, b"{}")
        assert len(server.requests) == 1


async def test_a_lost_reply_may_have_been_applied():
    async with client() as (server, rest, lanes, _):
        server.writes.append(drop)
        with pytest.raises(UnreachableError) as lost:
            await rest.post("/a", lanes.bind, b"{}")
        assert lost.value.sent
        assert len(server.requests) == 1, "a write is not repeated behind the caller's back"


async def test_a_refused_connection_cannot_have_been_applied():
    async with client() as (_, rest, lanes, _):
        rest._endpoint = Endpoint("http://127.0.0.1:1", StaticToken(None))
        with pytest.raises(UnreachableError) as refused:
            await rest.post("/a", lanes.bind, b"{}")
        assert not refused.value.sent


async def test_a_silent_server_is_given_up_after_the_lanes_timeout():
    async with client() as (server, rest, lanes, _):
        lanes.bind.timeout = 0.05

        async def silence(request, writer):
            await asyncio.Event().wait()

        server.writes.append(silence)
        with pytest.raises(UnreachableError) as lost:
            await rest.post("/a", lanes.bind, b"{}")
        assert lost.value.sent


async def test_a_refused_token_is_read_again_for_the_next_request(tmp_path):
    path = tmp_path / "token"
    path.write_text("old")
    async with client(FileToken(path, SkippingClock())) as (server, rest, lanes, _):
        server.lists.append(answer(401, status(401, "Unauthorized")))
        server.lists.append(answer(200, b"{}"))
        with pytest.raises(ApiError):
            await rest.get("/a", lanes.read)
        path.write_text("new")
        await rest.get("/a", lanes.read)
        assert [r.headers["authorization"] for r in server.requests] == ["Bearer old", "Bearer new"]


async def test_a_stream_that_is_refused_or_breaks_says_which():
    async with client() as (server, rest, _, _):
        server.watches.append(answer(403, status(403, "Forbidden", "no")))
        with pytest.raises(ApiError, match="no"):
            async with rest.stream("/a", {"watch": "1"}):
                pass
        server.watches.append(drop)
        server.watches.append(drop)
        with pytest.raises(UnreachableError):
            async with rest.stream("/a", {"watch": "1"}):
                pass
