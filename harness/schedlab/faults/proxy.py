"""A proxy before the API server: one per scheduler process, with the process's own credential.

It ends TLS with the control plane's own certificate and passes requests on byte by byte, so JSON and
protobuf, compressed or not, go through alike. Faults are decided per request, or per event of a watch;
connections that are open when a fault begins that would cut them are broken, watches included.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import msgspec
from aiohttp import web
from yarl import URL

from schedlab import timing
from schedlab.cluster.ports import HOST
from schedlab.faults.frames import error_event, frames, status_of
from schedlab.faults.requests import Asked, asked
from schedlab.faults.rules import Effect, Fault, Faults

_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "host"})
_NO_LIMIT = aiohttp.ClientTimeout(total=None, sock_connect=10)


@dataclass(frozen=True, slots=True)
class Upstream:
    """The API server as a process reaches it: its URL, the authority's certificate, the client's pair."""

    server: str
    authority: Path
    certificate: Path
    key: Path


class Proxy:
    """Between one process and the API server, on `port`, from `start` to `stop`."""

    def __init__(self, process: str, port: int, upstream: Upstream, faults: Faults) -> None:
        self.process = process
        self.port = port
        self._upstream = upstream
        self._faults = faults
        self._open: dict[asyncio.Task[object], tuple[Asked, web.Request]] = {}
        self._session: aiohttp.ClientSession | None = None
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where the process finds its API server."""
        return f"https://{HOST}:{self.port}"

    async def start(self, certificate: Path, key: Path) -> None:
        """Listen, with a certificate that the process trusts as the API server's."""
        outward = ssl.create_default_context(cafile=str(self._upstream.authority))
        outward.load_cert_chain(self._upstream.certificate, self._upstream.key)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=outward, limit=0), timeout=_NO_LIMIT, auto_decompress=False
        )
        inward = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        inward.load_cert_chain(certificate, key)
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, self.port, ssl_context=inward, reuse_port=True).start()

    async def stop(self) -> None:
        """Break what is open and stop listening; a second call does nothing."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._session is not None:
            await self._session.close()
            self._session = None

    def began(self, fault: Fault) -> None:
        """Break the open requests that a fault which has just begun would not let live."""
        if not (fault.effect.cut or fault.effect.hang):
            return
        for task, (what, request) in list(self._open.items()):
            if fault.concerns(self.process, what):
                if fault.effect.cut:
                    _break(request)
                task.cancel()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        what = asked(request.method, request.path, request.query)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a handler runs in a task
        self._open[task] = what, request
        try:
            effect = self._faults.for_request(self.process, what)
            if effect is not None:
                answered = await self._befallen(request, effect)
                if answered is not None:
                    return answered
            return await self._pass_on(request, what, lose=effect is not None and effect.lose)
        finally:
            del self._open[task]

    async def _befallen(self, request: web.Request, effect: Effect) -> web.StreamResponse | None:
        """The end of a request that does not reach the server; None if it does."""
        if effect.delay:
            await timing.sleep(effect.delay)
        if effect.hang:
            await asyncio.Event().wait()
        if effect.cut:
            _break(request)
            raise asyncio.CancelledError
        if effect.answer is None:
            return None
        headers = {} if effect.retry_after is None else {"Retry-After": str(effect.retry_after)}
        return web.Response(
            status=effect.answer,
            body=_status(effect.answer),
            content_type="application/json",
            headers=headers,
        )

    async def _pass_on(self, request: web.Request, what: Asked, *, lose: bool) -> web.StreamResponse:
        if self._session is None:
            raise RuntimeError("the proxy has been stopped")
        url = URL(self._upstream.server + request.raw_path, encoded=True)
        body = await request.read()
        try:
            async with self._session.request(
                request.method, url, headers=_end_to_end(request.headers), data=body, allow_redirects=False
            ) as answer:
                if lose:
                    await answer.read()
                    _break(request)
                    raise asyncio.CancelledError
                response = web.StreamResponse(status=answer.status, headers=_end_to_end(answer.headers))
                await response.prepare(request)
                if what.verb == "watch" and answer.ok:
                    await self._pass_events(request, what, answer, response)
                else:
                    async for chunk in answer.content.iter_any():
                        await response.write(chunk)
                await response.write_eof()
                return response
        except aiohttp.ClientError as error:
            _break(request)
            raise asyncio.CancelledError from error

    async def _pass_events(
        self, request: web.Request, what: Asked, answer: aiohttp.ClientResponse, response: web.StreamResponse
    ) -> None:
        """Pass a watch on event by event, until the server or a fault ends it."""
        content_type = answer.headers.get("Content-Type", "")
        late = b""
        async for event in frames(answer.content.iter_any(), content_type):
            befallen = self._faults.for_event(self.process, what)
            if befallen is None:
                await response.write(late + event)
                late = b""
                continue
            effect, ended = befallen
            if effect.error is not None:
                await response.write(error_event(content_type, *_forged(effect.error)))
                return
            if effect.tear:
                await response.write(event[: len(event) // 2])
                _break(request)
                raise asyncio.CancelledError
            if effect.stall:
                await ended.wait()
            if effect.reorder and not late:
                late = event
                continue
            told = event + late + (event if effect.duplicate else b"")
            late = b""
            for start in range(0, len(told), effect.slice or len(told)):
                await response.write(told[start : start + (effect.slice or len(told))])


def _break(request: web.Request) -> None:
    """Reset the client's connection, as a server does that dies."""
    if request.transport is not None:
        request.transport.abort()


def _end_to_end(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}


def _status(code: int) -> bytes:
    return msgspec.json.encode(status_of(*_forged(code)))


def _forged(code: int) -> tuple[int, str, str]:
    """Code, reason and message of a Status that the server never gave."""
    return code, _REASONS.get(code, "InternalError"), f"schedlab answers {code} in the server's place"


_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
