"""Who asks, and whether they may: answered by the API server, remembered briefly; no answer means no.

A request is known by its verified client certificate, by a bearer token that a TokenReview confirms, or not
at all (`system:anonymous`). What it may read is decided by a SubjectAccessReview. Follows
`apiserver/pkg/server/options/{authentication,authorization}.go` and their webhook plugins.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kubesched import logs
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.lanes import Lane
from kubesched.client.rest import RestClient
from kubesched.clock import Clock
from kubesched.serving.review_metrics import DelegatedMetrics, ReviewMetrics

_log = logs.get(__name__)
_FAILURES = (ApiError, UnreachableError, msgspec.DecodeError)
_REMEMBERED = 1024


class ReviewError(Exception):
    """The API server could not be asked."""


@dataclass(frozen=True, slots=True)
class User:
    """Who makes a request."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


class _TokenUser(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}


class _TokenStatus(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: _TokenUser = _TokenUser()


class _TokenReview(msgspec.Struct, frozen=True):
    status: _TokenStatus = _TokenStatus()


class _AccessStatus(msgspec.Struct, frozen=True):
    allowed: bool = False
    denied: bool = False


class _AccessReview(msgspec.Struct, frozen=True):
    status: _AccessStatus = _AccessStatus()


class Remembered:
    """Answers by key, each for its own time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: dict[object, tuple[float, object]] = {}

    def get(self, key: object) -> object:
        """An answer that still holds."""
        until, answer = self._answers.get(key, (0.0, None))
        return answer if self._clock.now() < until else None

    def put(self, key: object, answer: object, seconds: float) -> None:
        """Remember an answer; when too many are held, all are forgotten rather than any kept too long."""
        if len(self._answers) >= _REMEMBERED:
            self._answers.clear()
        self._answers[key] = (self._clock.now() + seconds, answer)


class Reviewer:
    """Asks the API server for reviews, and counts them."""

    def __init__(self, client: RestClient, lane: Lane, clock: Clock, metrics: DelegatedMetrics) -> None:
        self._client = client
        self._lane = lane
        self._clock = clock
        self._metrics = metrics

    async def ask(self, resource: str, kind: str, spec: Mapping[str, object]) -> bytes:
        """The answer to a review. Raises ApiError, UnreachableError."""
        group = "authentication" if kind == "TokenReview" else "authorization"
        body = {"apiVersion": f"{group}.k8s.io/v1", "kind": kind, "spec": spec}
        asked, code = self._clock.now(), "<error>"
        try:
            raw = await self._client.post(
                f"/apis/{group}.k8s.io/v1/{resource}", self._lane, msgspec.json.encode(body)
            )
        except ApiError as error:
            code = str(error.status)
            raise
        else:
            code = "201"
            return raw
        finally:
            self._metrics.asked(code, self._clock.now() - asked)


class Authenticator:
    """Turns credentials into users. Without a client no token can be confirmed, so none is believed."""

    def __init__(
        self, client: RestClient | None, lane: Lane, clock: Clock, *, seconds: float, metrics: ReviewMetrics
    ) -> None:
        self._reviewer = None if client is None else Reviewer(client, lane, clock, metrics.token_reviews)
        self._clock = clock
        self._seconds = seconds
        self._metrics = metrics
        self._known = Remembered(clock)

    async def user(self, certificate: Mapping[str, Any] | None, authorization: str) -> User | None:
        """The user of a request; None for credentials that are wrong, ANONYMOUS for none at all."""
        began = self._clock.now()
        user = await self._user(certificate, authorization)
        self._metrics.authenticated(user.name if user else None, self._clock.now() - began)
        return user

    async def _user(self, certificate: Mapping[str, Any] | None, authorization: str) -> User | None:
        if certificate:
            if until := certificate.get("notAfter"):
                self._metrics.lifetime.observe(ssl.cert_time_to_seconds(until) - self._clock.wall())
            subject = [pair for part in certificate.get("subject", ()) for pair in part]
            groups = [value for key, value in subject if key == "organizationName"]
            return User(dict(subject).get("commonName", ""), (*groups, "system:authenticated"))
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        return await self._token_user(token.strip())

    async def _token_user(self, token: str) -> User | None:
        if self._reviewer is None:
            return None
        key, began = hashlib.sha256(token.encode()).digest(), self._clock.now()
        known = self._known.get(key)
        if known is None:
            known = await self._reviewed(self._reviewer, token)
            if known is not None:
                self._known.put(key, known, self._seconds)
            self._metrics.token_looked_up(self._clock.now() - began, hit=False)
        else:
            self._metrics.token_looked_up(self._clock.now() - began, hit=True)
        return known if isinstance(known, User) else None

    async def _reviewed(self, reviewer: Reviewer, token: str) -> User | str | None:
        """The token's user, `refused` when it has none, or None when nobody could say."""
        fetching, status = self._metrics.token_fetching.labels("in_flight"), "error"
        fetching.inc()
        try:
            raw = await reviewer.ask("tokenreviews", "TokenReview", {"token": token})
            review = msgspec.json.decode(raw, type=_TokenReview).status
            status = "ok" if review.authenticated else "error"
        except _FAILURES as error:
            _log.error("Unable to authenticate the request", error)
            return None
        finally:
            fetching.dec()
            self._metrics.token_fetches.labels(status).inc()
        if not review.authenticated:
            return "refused"
        who = review.user
        return User(who.username, (*who.groups, "system:authenticated"), who.uid, who.extra)


class Authorizer:
    """Decides which paths a user may read. Without a client only the open paths may be read."""

    def __init__(
        self,
        client: RestClient | None,
        lane: Lane,
        clock: Clock,
        *,
        open_paths: Sequence[str],
        allowed_seconds: float,
        refused_seconds: float,
        metrics: ReviewMetrics,
    ) -> None:
        self._reviewer = None if client is None else Reviewer(client, lane, clock, metrics.access_reviews)
        self._clock = clock
        self._open = tuple(open_paths)
        self._allowed_seconds, self._refused_seconds = allowed_seconds, refused_seconds
        self._metrics = metrics
        self._known = Remembered(clock)

    def is_open(self, path: str) -> bool:
        """Whether anybody may read the path; a path that ends with `*` stands for all that begin so."""
        return any(
            path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
            for pattern in self._open
        )

    async def allowed(self, user: User, verb: str, path: str) -> bool:
        """Whether the user may. Raises ReviewError when the API server cannot be asked."""
        began, decision = self._clock.now(), "error"
        try:
            decision = await self._decision(user, verb, path)
        finally:
            self._metrics.authorized(decision, self._clock.now() - began)
        return decision == "allowed"

    async def _decision(self, user: User, verb: str, path: str) -> str:
        if self.is_open(path) or "system:masters" in user.groups:
            return "allowed"
        if self._reviewer is None:
            return "no-opinion"
        key = (user.name, user.groups, verb, path)
        if (known := self._known.get(key)) is not None:
            return str(known)
        spec = {
            "user": user.name,
            "groups": user.groups,
            "uid": user.uid,
            "extra": dict(user.extra),
            "nonResourceAttributes": {"path": path, "verb": verb},
        }
        try:
            raw = await self._reviewer.ask("subjectaccessreviews", "SubjectAccessReview", spec)
            status = msgspec.json.decode(raw, type=_AccessReview).status
        except _FAILURES as error:
            raise ReviewError(str(error)) from error
        decision = "allowed" if status.allowed else "denied" if status.denied else "no-opinion"
        seconds = self._allowed_seconds if decision == "allowed" else self._refused_seconds
        self._known.put(key, decision, seconds)
        return decision
