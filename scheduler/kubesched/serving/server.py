"""The secure port: every request is authenticated, authorised, and only then answered.

Refusals are Status objects as an API server writes them: 401 for credentials that are wrong, 403 for a user
who may not, 500 when nobody can say. Follows `newEndpointsHandler` and `buildHandlerChain` in
`cmd/kube-scheduler/app/server.go`.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from kubesched import logs
from kubesched.serving import health
from kubesched.serving.reviews import Authenticator, Authorizer, ReviewError, User
from kubesched.serving.slis import Slis

_log = logs.get(__name__)
_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Page = Callable[[], str]


class Server:
    """Serves one scheduler's endpoints."""

    def __init__(
        self,
        authenticator: Authenticator,
        authorizer: Authorizer,
        *,
        state: health.Health,
        registry: CollectorRegistry,
        configuration: dict[str, Any],
        pages: Mapping[str, Page],
    ) -> None:
        """`pages` are further paths, each with what writes its text."""
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._health = state
        self._registry = registry
        self._configuration = configuration
        self._pages = pages
        self._runner: web.AppRunner | None = None

    async def start(
        self, address: str, port: int, context: ssl.SSLContext, *, reuse_address: bool, reuse_port: bool
    ) -> None:
        """Listen. Raises OSError when the port cannot be had."""
        app = web.Application(middlewares=[self._guard])
        for endpoint in ("healthz", "livez", "readyz"):
            app.router.add_get(f"/{endpoint}", self._healthy(endpoint))
            app.router.add_get(f"/{endpoint}/{{name}}", self._healthy(endpoint))
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/metrics/slis", self._slis)
        app.router.add_get("/configz", self._configz)
        for path, page in self._pages.items():
            app.router.add_get(path, _text(page))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=5.0)
        await self._runner.setup()
        host = None if address in {"", "0.0.0.0", "::"} else address  # noqa: S104 - recognised, not chosen
        site = web.TCPSite(
            self._runner,
            host,
            port,
            ssl_context=context,
            reuse_address=reuse_address or None,
            reuse_port=reuse_port or None,
        )
        await site.start()
        _log.info("Serving securely", address=address, port=port)

    async def stop(self) -> None:
        """Finish open requests for a moment, then close."""
        if self._runner is not None:
            await self._runner.cleanup()
            _log.info("[graceful-termination] secure server has stopped listening")

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        verb = _VERBS.get(request.method, request.method.lower())
        certificate = request.transport.get_extra_info("peercert") if request.transport else None
        user = await self._authenticator.user(certificate, request.headers.get("Authorization", ""))
        if user is None:
            return _status(401, "Unauthorized", "Unauthorized")
        refusal = await self._refusal(user, verb, request.path)
        if refusal is not None:
            return refusal
        try:
            response = await handler(request)
        except web.HTTPException as error:
            return _status(error.status, error.reason, f"{error.status} {error.reason}")
        response.headers["Cache-Control"] = "no-cache, private"
        return response

    async def _refusal(self, user: User, verb: str, path: str) -> web.Response | None:
        try:
            if await self._authorizer.allowed(user, verb, path):
                return None
        except ReviewError as error:
            _log.error("Unable to authorize the request", error, path=path)
            return _status(500, "InternalError", "Internal Server Error: the request cannot be authorized")
        return _status(403, "Forbidden", f'forbidden: User "{user.name}" cannot {verb} path "{path}"')

    def _healthy(self, endpoint: str) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            checks = self._health.checks(endpoint)
            name = request.match_info.get("name")
            if name is None:
                excluded = request.query.getall("exclude", [])
                verbose = "verbose" in request.query
                code, body = health.answer(self._health, endpoint, verbose=verbose, excluded=excluded)
            elif name in checks:
                code, body = health.answer_one(self._health, endpoint, name)
            else:
                raise web.HTTPNotFound
            return web.Response(status=code, text=body)

        return handle

    async def _metrics(self, _: web.Request) -> web.StreamResponse:
        body = generate_latest(self._registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _slis(self, _: web.Request) -> web.StreamResponse:
        registry = CollectorRegistry()
        registry.register(Slis(self._health))
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _configz(self, _: web.Request) -> web.StreamResponse:
        body = msgspec.json.encode({"componentconfig": self._configuration})
        return web.Response(body=body, content_type="application/json")


def _text(page: Page) -> Handler:
    async def handle(_: web.Request) -> web.StreamResponse:
        return web.Response(text=page())

    return handle


def _status(code: int, reason: str, message: str) -> web.Response:
    body = {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    }  # fmt: skip
    return web.Response(status=code, body=msgspec.json.encode(body), content_type="application/json")
