"""Who asks and whether they may: fail closed, remember briefly."""

from __future__ import annotations

import json

import pytest
from prometheus_client import CollectorRegistry

from kubesched.client.errors import ApiError, UnreachableError
from kubesched.clock import VirtualClock
from kubesched.serving.review_metrics import ReviewMetrics
from kubesched.serving.reviews import ANONYMOUS, Authenticator, Authorizer, ReviewError, User

LANE = None


def reviews() -> ReviewMetrics:
    return ReviewMetrics(CollectorRegistry())


class Client:
    """Answers reviews; `answer` is the status, or what to raise."""

    def __init__(self, answer) -> None:
        self.answer = answer
        self.asked = []

    async def post(self, path, lane, body):
        self.asked.append((path, json.loads(body)["spec"]))
        if isinstance(self.answer, Exception):
            raise self.answer
        return json.dumps({"status": self.answer}).encode()


def authenticator(client, clock=None) -> Authenticator:
    return Authenticator(client, LANE, clock or VirtualClock(), seconds=10, metrics=reviews())


def authorizer(client, clock=None, open_paths=("/healthz", "/open/*")) -> Authorizer:
    return Authorizer(
        client, LANE, clock or VirtualClock(), open_paths=open_paths, allowed_seconds=10, refused_seconds=5,
        metrics=reviews(),
    )  # fmt: skip


CERTIFICATE = {"subject": ((("organizationName", "team"),), (("commonName", "alice"),))}


async def test_a_client_certificate_is_its_common_name_and_organizations():
    user = await authenticator(None).user(CERTIFICATE, "")
    assert user == User("alice", ("team", "system:authenticated"))


async def test_nothing_is_anonymous():
    assert await authenticator(None).user(None, "") is ANONYMOUS
    assert await authenticator(None).user(None, "Basic eA==") is ANONYMOUS


async def test_a_token_is_confirmed_by_a_review_and_remembered_for_a_while():
    clock = VirtualClock()
    client = Client({"authenticated": True, "user": {"username": "bob", "uid": "1", "groups": ["g"]}})
    it = authenticator(client, clock)
    for _ in range(3):
        assert await it.user(None, "Bearer t") == User("bob", ("g", "system:authenticated"), "1")
    assert client.asked == [("/apis/authentication.k8s.io/v1/tokenreviews", {"token": "t"})]
    clock.advance(10)
    await it.user(None, "bearer t")
    assert len(client.asked) == 2


async def test_a_refused_token_is_nobody_and_remembered_too():
    client = Client({"authenticated": False})
    it = authenticator(client)
    assert await it.user(None, "Bearer t") is None
    assert await it.user(None, "Bearer t") is None
    assert len(client.asked) == 1


@pytest.mark.parametrize("failure", [ApiError(403, "Forbidden", "no"), UnreachableError("x", sent=True)])
async def test_a_token_that_cannot_be_reviewed_is_nobody_and_asked_again(failure):
    client = Client(failure)
    it = authenticator(client)
    assert await it.user(None, "Bearer t") is None
    assert await it.user(None, "Bearer t") is None
    assert len(client.asked) == 2


async def test_without_a_reviewer_no_token_is_believed():
    assert await authenticator(None).user(None, "Bearer t") is None


async def test_open_paths_are_open_to_all_and_others_to_nobody_without_a_reviewer():
    it = authorizer(None)
    assert await it.allowed(ANONYMOUS, "get", "/healthz")
    assert await it.allowed(ANONYMOUS, "get", "/open/a")
    assert not await it.allowed(ANONYMOUS, "get", "/healthz/ping")
    assert not await it.allowed(User("alice"), "get", "/metrics")


async def test_masters_may_everything():
    assert await authorizer(None).allowed(User("root", ("system:masters",)), "get", "/metrics")


async def test_access_is_reviewed_and_each_answer_remembered_for_its_own_time():
    clock, client = VirtualClock(), Client({"allowed": True})
    it = authorizer(client, clock)
    user = User("bob", ("g",), "1", {"k": ["v"]})
    assert await it.allowed(user, "get", "/metrics")
    assert await it.allowed(user, "get", "/metrics")
    assert client.asked == [
        (
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            {
                "user": "bob",
                "groups": ["g"],
                "uid": "1",
                "extra": {"k": ["v"]},
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            },
        )
    ]
    client.answer = {"allowed": False}
    assert not await it.allowed(user, "get", "/configz"), "another path is another question"
    clock.advance(5)
    client.answer = {"allowed": True}
    assert await it.allowed(user, "get", "/configz"), "a no is forgotten sooner"
    assert await it.allowed(user, "get", "/metrics")
    assert len(client.asked) == 3


async def test_an_unanswered_question_is_neither_yes_nor_remembered():
    client = Client(UnreachableError("x", sent=True))
    it = authorizer(client)
    for _ in range(2):
        with pytest.raises(ReviewError):
            await it.allowed(User("bob"), "get", "/metrics")
    assert len(client.asked) == 2


async def test_a_flood_of_questions_does_not_grow_without_bound():
    it = authorizer(Client({"allowed": True}))
    for index in range(1500):
        await it.allowed(User(f"u{index}"), "get", "/metrics")
    assert len(it._known._answers) <= 1024
