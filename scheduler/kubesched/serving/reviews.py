"""Who asks, and whether they may: answered by the API server, remembered briefly; no answer means no.

A request is known by its verified client certificate, by a bearer token that a TokenReview confirms, or not
at all (`system:anonymous`). What it may read is decided by a SubjectAccessReview. Follows
`apiserver/pkg/server/options/{authentication,authorization}.go` and their webhook plugins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kubesched import logs
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.lanes import Lane
from kubesched.client.rest import RestClient
from kubesched.clock import Clock

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
    reason: str = ""


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


class Authenticator:
    """Turns credentials into users. Without a client no token can be confirmed, so none is believed."""

    def __init__(self, client: RestClient | None, lane: Lane, clock: Clock, *, seconds: float) -> None:
        self._client = client
        self._lane = lane
        self._seconds = seconds
        self._known = Remembered(clock)

    async def user(self, certificate: Mapping[str, Any] | None, authorization: str) -> User | None:
        """The user of a request; None for credentials that are wrong, ANONYMOUS for none at all."""
        if certificate:
            subject = {key: value for part in certificate.get("subject", ()) for key, value in part}
            groups = [
                v for part in certificate.get("subject", ()) for k, v in part if k == "organizationName"
            ]
            return User(subject.get("commonName", ""), (*groups, "system:authenticated"))
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        return await self._token_user(token.strip())

    async def _token_user(self, token: str) -> User | None:
        if self._client is None:
            return None
        key = hashlib.sha256(token.encode()).digest()
        if (known := self._known.get(key)) is not None:
            return known if isinstance(known, User) else None
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        try:
            raw = await self._client.post(
                "/apis/authentication.k8s.io/v1/tokenreviews", self._lane, msgspec.json.encode(body)
            )
            status = msgspec.json.decode(raw, type=_TokenReview).status
        except _FAILURES as error:
            _log.error("Unable to authenticate the request", error)
            return None
        user = None
        if status.authenticated:
            who = status.user
            user = User(who.username, (*who.groups, "system:authenticated"), who.uid, who.extra)
        self._known.put(key, user or "refused", self._seconds)
        return user


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
    ) -> None:
        self._client = client
        self._lane = lane
        self._open = tuple(open_paths)
        self._seconds = {True: allowed_seconds, False: refused_seconds}
        self._known = Remembered(clock)

    def is_open(self, path: str) -> bool:
        """Whether anybody may read the path; a path that ends with `*` stands for all that begin so."""
        return any(
            path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
            for pattern in self._open
        )

    async def allowed(self, user: User, verb: str, path: str) -> bool:
        """Whether the user may. Raises ReviewError when the API server cannot be asked."""
        if self.is_open(path) or "system:masters" in user.groups:
            return True
        if self._client is None:
            return False
        key = (user.name, user.groups, verb, path)
        if (known := self._known.get(key)) is not None:
            return bool(known == "allowed")
        spec = {
            "user": user.name,
            "groups": user.groups,
            "uid": user.uid,
            "extra": dict(user.extra),
            "nonResourceAttributes": {"path": path, "verb": verb},
        }
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        try:
            raw = await self._client.post(
                "/apis/authorization.k8s.io/v1/subjectaccessreviews", self._lane, msgspec.json.encode(body)
            )
            allowed = msgspec.json.decode(raw, type=_AccessReview).status.allowed
        except _FAILURES as error:
            raise ReviewError(str(error)) from error
        self._known.put(key, "allowed" if allowed else "refused", self._seconds[allowed])
        return allowed
