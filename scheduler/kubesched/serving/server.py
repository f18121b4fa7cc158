"""The secure port: every request is authenticated, authorised, and only then answered.

Refusals are Status objects as an API server writes them: 401 for credentials that are wrong, 403 for a user
who may not, 500 when nobody can say. Follows `newEndpointsHandler` and `buildHandlerChain` in
`cmd/kube-scheduler/app/server.go`.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import web
from prometheus_client.registry import Collector

from kubesched import exposition_text, logs
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
Route = tuple[str, str, Handler]
"""Method, path, and what answers."""


class Server:
    """Serves one scheduler's endpoints."""

    def __init__(
        self,
        authenticator: Authenticator,
        authorizer: Authorizer,
        *,
        state: health.Health,
        registry: Collector,
        configuration: dict[str, Any],
        pages: Mapping[str, Page],
        routes: Sequence[Route] = (),
    ) -> None:
        """`pages` are further paths, each with what writes its text; `routes` answer requests themselves."""
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._health = state
        self._registry = registry
        self._configuration = configuration
        self._pages = pages
        self._routes = routes
        self._runner: web.AppRunner | None = None
        self._socket: socket.socket | None = None
        self._site: web.SockSite | None = None

    async def start(self, address: str, port: int, context: ssl.SSLContext, *, reuse_port: bool) -> None:
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
        for method, path, handler in self._routes:
            app.router.add_route(method, path, handler)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=5.0)
        await self._runner.setup()
        self._socket = _listening(address, port, reuse_port=reuse_port)
        await self.renew(context)
        _log.info("Serving securely", address=address, port=port)

    async def renew(self, context: ssl.SSLContext) -> None:
        """Use another context from the next connection on; the port stays open, and so do connections."""
        if self._runner is None or self._socket is None:
            raise RuntimeError("the server was not started")
        previous = self._site
        self._site = web.SockSite(self._runner, self._socket.dup(), ssl_context=context)
        await self._site.start()
        if previous is not None:
            await previous.stop()

    async def stop(self) -> None:
        """Finish open requests for a moment, then close."""
        if self._socket is not None:
            self._socket.close()
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
        body = exposition_text.write(self._registry.collect())
        return web.Response(body=body, headers={"Content-Type": exposition_text.CONTENT_TYPE})

    async def _slis(self, _: web.Request) -> web.StreamResponse:
        body = exposition_text.write(Slis(self._health).collect())
        return web.Response(body=body, headers={"Content-Type": exposition_text.CONTENT_TYPE})

    async def _configz(self, _: web.Request) -> web.StreamResponse:
        body = msgspec.json.encode({"componentconfig": self._configuration})
        return web.Response(body=body, content_type="application/json")


def _listening(address: str, port: int, *, reuse_port: bool) -> socket.socket:
    """A socket for one address, or for all of both families, as Go listens on an unspecified one."""
    if address in {"", "0.0.0.0", "::"}:  # noqa: S104 - recognised, not chosen
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        return socket.create_server(("", port), family=family, dualstack_ipv6=both, reuse_port=reuse_port)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family, reuse_port=reuse_port)


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
