"""What requests to the secure port leave in the metrics."""

from __future__ import annotations

import json

import pytest
from prometheus_client import CollectorRegistry

from kubesched.client.errors import ApiError, UnreachableError
from kubesched.clock import VirtualClock
from kubesched.serving.review_metrics import ReviewMetrics
from kubesched.serving.reviews import Authenticator, Authorizer, ReviewError, User


class Client:
    """Answers every review after half a second."""

    def __init__(self, clock: VirtualClock, answer) -> None:
        self.clock, self.answer = clock, answer

    async def post(self, path, lane, body):
        self.clock.advance(0.5)
        if isinstance(self.answer, Exception):
            raise self.answer
        return json.dumps({"status": self.answer}).encode()


class Port:
    """The two reviewers of a port, and its metrics."""

    def __init__(self, answer) -> None:
        clock, self.registry = VirtualClock(), CollectorRegistry()
        metrics, client = ReviewMetrics(self.registry), Client(clock, answer)
        self.who = Authenticator(client, None, clock, seconds=10, metrics=metrics)
        self.may = Authorizer(
            client, None, clock, open_paths=("/open",), allowed_seconds=1, refused_seconds=1, metrics=metrics
        )

    def of(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("kubelet", "kubelet"), ("bob", "other"), ("bob@example.org", "email_id")],
)
async def test_only_well_known_users_are_named(name, shown):
    port = Port({"authenticated": True, "user": {"username": name}})
    await port.who.user(None, "Bearer t")
    assert port.of("authenticated_user_requests", username=shown) == 1
    assert port.of("authentication_attempts", result="success") == 1
    assert port.of("authentication_duration_seconds_sum", result="success") == 0.5


async def test_tokens_are_counted_by_whether_they_were_remembered():
    port = Port({"authenticated": True, "user": {"username": "bob"}})
    for _ in range(3):
        await port.who.user(None, "Bearer t")
    assert port.of("authentication_token_cache_request_total", status="miss") == 1
    assert port.of("authentication_token_cache_request_total", status="hit") == 2
    assert port.of("authentication_token_cache_fetch_total", status="ok") == 1
    assert port.of("authentication_token_cache_active_fetch_count", status="in_flight") == 0
    assert port.of("apiserver_delegated_authn_request_total", code="201") == 1
    assert port.of("apiserver_delegated_authn_request_duration_seconds_sum", code="201") == 0.5


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"authenticated": False}, "201"),
        (ApiError(403, "Forbidden", ""), "403"),
        (UnreachableError("", sent=False), "<error>"),
    ],
    ids=["refused", "not allowed to ask", "nobody to ask"],
)
async def test_a_token_that_is_not_confirmed_is_an_error(answer, code):
    port = Port(answer)
    assert await port.who.user(None, "Bearer t") is None
    assert port.of("authentication_attempts", result="error") == 1
    assert port.of("authentication_token_cache_fetch_total", status="error") == 1
    assert port.of("apiserver_delegated_authn_request_total", code=code) == 1


@pytest.mark.parametrize(
    ("answer", "path", "result"),
    [
        ({"allowed": True}, "/metrics", "allowed"),
        ({"allowed": False}, "/metrics", "no-opinion"),
        ({"allowed": False, "denied": True}, "/metrics", "denied"),
        ({"allowed": False}, "/open", "allowed"),
        (UnreachableError("", sent=False), "/metrics", "error"),
    ],
)
async def test_decisions_are_counted_by_their_result(answer, path, result):
    port = Port(answer)
    try:
        allowed = await port.may.allowed(User("bob"), "get", path)
    except ReviewError:
        allowed = False
    assert allowed is (result == "allowed")
    assert port.of("authorization_attempts_total", result=result) == 1
    assert port.of("authorization_duration_seconds_count", result=result) == 1
    code = "<error>" if result == "error" else "201"
    asked = None if path == "/open" else 1
    assert port.of("apiserver_delegated_authz_request_total", code=code) == asked


async def test_the_remaining_life_of_client_certificates_is_observed():
    port = Port({})
    subject = ((("commonName", "bob"),),)
    await port.who.user({"subject": subject, "notAfter": "Jan  1 00:00:00 2100 GMT"}, "")
    assert port.of("apiserver_client_certificate_expiration_seconds_bucket", le="3.1104e+07") == 0
    assert port.of("apiserver_client_certificate_expiration_seconds_count") == 1
