"""What requests to the API server leave in the metrics."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, drop, running, status, stream

from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lane, TokenBucket
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken
from kubesched.rest_metrics import RestMetrics


class Counted:
    """A client on a scripted server, and its metrics."""

    def __init__(self, server, qps: float) -> None:
        self.server, self.clock, self.registry = server, SkippingClock(), CollectorRegistry()
        traffic = RestMetrics(self.registry).of(server.url)
        self.client = RestClient(
            Endpoint(server.url, StaticToken(None)), self.clock, user_agent="test", traffic=traffic
        )
        self.lane = Lane("l", TokenBucket(self.clock, qps, 1), in_flight=1, timeout=5)

    def of(self, name: str, **labels: str) -> float | None:
        host = self.server.url.removeprefix("http://")
        return self.registry.get_sample_value(f"rest_client_{name}", {**labels, "host": host})


@pytest.fixture
async def counted():
    async with running() as server:
        it = Counted(server, qps=0.5)
        yield it
        await it.client.close()


async def test_requests_are_counted_by_code_with_their_sizes(counted):
    counted.server.writes.append(answer(201, b"four"))
    await counted.client.post("/a", counted.lane, b"123456")
    assert counted.of("requests_total", code="201", method="POST") == 1
    assert counted.of("request_size_bytes_sum", verb="POST") == 6
    assert counted.of("response_size_bytes_sum", verb="POST") == 4
    assert counted.of("request_duration_seconds_count", verb="POST") == 1


async def test_a_refusal_and_a_broken_connection_are_counted_too(counted):
    counted.server.writes.extend([answer(409, status(409, "Conflict")), drop, drop])
    with pytest.raises(ApiError):
        await counted.client.put("/a", counted.lane, b"{}")
    with pytest.raises(UnreachableError):
        await counted.client.put("/a", counted.lane, b"{}")
    assert counted.of("requests_total", code="409", method="PUT") == 1
    assert counted.of("requests_total", code="<error>", method="PUT") == 1
    assert counted.of("request_duration_seconds_count", verb="PUT") == 2


async def test_waiting_for_a_turn_is_observed(counted):
    """At one request in two seconds the second one waits for two."""
    counted.server.lists.extend([answer(200, b"{}"), answer(200, b"{}")])
    await counted.client.get("/a", counted.lane)
    await counted.client.get("/a", counted.lane)
    assert counted.of("rate_limiter_duration_seconds_count", verb="GET") == 2
    assert counted.of("rate_limiter_duration_seconds_sum", verb="GET") == pytest.approx(2)
    assert counted.of("request_duration_seconds_sum", verb="GET") == pytest.approx(2)


async def test_a_request_that_is_sent_again_is_one_request_with_a_retry(counted):
    busy = answer(429, status(429, "TooManyRequests"), Retry_After="3")
    counted.server.lists.extend([busy, answer(200, b"{}")])
    await counted.client.get("/a", counted.lane)
    assert counted.of("requests_total", code="429", method="GET") == 1
    assert counted.of("requests_total", code="200", method="GET") == 1
    assert counted.of("request_retries_total", code="429", verb="GET") == 1
    assert counted.of("request_duration_seconds_count", verb="GET") == 1
    assert counted.of("request_duration_seconds_sum", verb="GET") >= 3


async def test_a_watch_is_counted_when_it_is_answered(counted):
    counted.server.watches.append(stream(b"{}\n"))
    async with counted.client.stream("/a", {"watch": "1"}) as chunks:
        assert [chunk async for chunk in chunks]
    assert counted.of("requests_total", code="200", method="GET") == 1
    assert counted.of("request_duration_seconds_count", verb="GET") is None


def test_helpers_have_no_certificates():
    registry = CollectorRegistry()
    RestMetrics(registry)
    assert registry.get_sample_value("rest_client_exec_plugin_ttl_seconds") == float("inf")
