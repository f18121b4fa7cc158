"""Requests to the API server: one pool of connections, every request in a lane, every answer told apart.

HTTP/1.1 with many pooled connections and one request in flight on each; answers are bytes, decoded by who
knows the type. Nothing is retried here except what the server asks for: a 429 or 503 with Retry-After, as
client-go's request does (`client-go/rest/request.go`). A 401 makes the next request read its token anew.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import aiohttp

from kubesched import logs
from kubesched.client.errors import ApiError, UnreachableError, from_response
from kubesched.client.kubeconfig import Endpoint
from kubesched.client.lanes import Lane
from kubesched.client.tls import ClientTls
from kubesched.clock import Clock

JSON = "application/json"
STRATEGIC_MERGE = "application/strategic-merge-patch+json"

_log = logs.get(__name__)
_CONNECT_TIMEOUT = 10.0
# A watch is silent for at most about a minute: the server sends bookmarks.
_STREAM_SILENCE = 150.0
_ATTEMPTS = 10
_CERTIFICATE_CHECK = 60.0
_CONNECTION_LOST = (aiohttp.ClientError, asyncio.TimeoutError, ConnectionError, ssl.SSLError)


class RestClient:
    """Talks to one API server. Close it when done."""

    def __init__(self, endpoint: Endpoint, clock: Clock, *, user_agent: str) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._server_name = endpoint.server_name or None
        self._tls = ClientTls(endpoint) if endpoint.server.startswith("https:") else None
        self._tls_checked = clock.now()
        connector = aiohttp.TCPConnector(
            ssl=self._tls.context if self._tls else False,
            limit=0,
            keepalive_timeout=60.0,
            socket_factory=_keepalive_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=True,
            headers={
                "User-Agent": user_agent,
                "Accept": JSON,
                "Accept-Encoding": "identity",
                **(endpoint.headers or {}),
            },
        )

    @property
    def server(self) -> str:
        """The API server's address."""
        return self._endpoint.server

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        lane: Lane,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
        params: Mapping[str, str] | None = None,
    ) -> bytes:
        """The body of a successful answer. Raises ApiError when refused, else UnreachableError."""
        for attempt in range(_ATTEMPTS):
            async with lane.slot():
                try:
                    return await self._once(
                        method,
                        path,
                        seconds=lane.timeout,
                        body=body,
                        content_type=content_type,
                        params=params,
                    )
                except ApiError as error:
                    if (
                        error.retry_after is None
                        or error.status not in {429, 503}
                        or attempt + 1 == _ATTEMPTS
                    ):
                        raise
                    delay = error.retry_after
            _log.info("Server asked to wait", v=2, lane=lane.name, seconds=delay, path=path)
            await self._clock.sleep(delay)
        raise AssertionError("unreachable")

    async def get(self, path: str, lane: Lane, params: Mapping[str, str] | None = None) -> bytes:
        """GET."""
        return await self.request("GET", path, lane, params=params)

    async def post(self, path: str, lane: Lane, body: bytes) -> bytes:
        """POST JSON."""
        return await self.request("POST", path, lane, body=body)

    async def put(self, path: str, lane: Lane, body: bytes) -> bytes:
        """PUT JSON."""
        return await self.request("PUT", path, lane, body=body)

    async def patch(self, path: str, lane: Lane, body: bytes, content_type: str = STRATEGIC_MERGE) -> bytes:
        """PATCH, strategic merge unless told otherwise."""
        return await self.request("PATCH", path, lane, body=body, content_type=content_type)

    async def delete(self, path: str, lane: Lane, body: bytes | None = None) -> bytes:
        """DELETE, with DeleteOptions as the body."""
        return await self.request("DELETE", path, lane, body=body)

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, str]) -> AsyncIterator[AsyncIterator[bytes]]:
        """The chunks of an endless answer. Raises ApiError when refused, UnreachableError when it breaks."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT, sock_read=_STREAM_SILENCE)
        try:
            async with self._session.get(
                self._url(path),
                params=params,
                headers=await self._headers(),
                timeout=timeout,
                server_hostname=self._server_name,
            ) as response:
                if response.status >= 400:
                    await self._refuse(response)
                yield response.content.iter_any()
        except _CONNECTION_LOST as error:
            raise _unreachable(error) from error

    async def _once(
        self,
        method: str,
        path: str,
        *,
        seconds: float,
        body: bytes | None,
        content_type: str,
        params: Mapping[str, str] | None,
    ) -> bytes:
        headers = await self._headers()
        if body is not None:
            headers["Content-Type"] = content_type
        limits = aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_TIMEOUT)
        try:
            async with self._session.request(
                method, self._url(path), data=body, params=params, headers=headers, timeout=limits,
                server_hostname=self._server_name,
            ) as response:  # fmt: skip
                if response.status >= 400:
                    await self._refuse(response)
                return await response.read()
        except _CONNECTION_LOST as error:
            raise _unreachable(error) from error

    async def _refuse(self, response: aiohttp.ClientResponse) -> None:
        if response.status == 401:
            self._endpoint.tokens.invalidate()
        raise from_response(response.status, response.headers, await response.read())

    async def _headers(self) -> dict[str, str]:
        if self._tls and self._clock.now() - self._tls_checked >= _CERTIFICATE_CHECK:
            self._tls_checked = self._clock.now()
            self._tls.refresh()
        token = await self._endpoint.tokens.token()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _url(self, path: str) -> str:
        return f"{self._endpoint.server}{path}"


def _unreachable(error: BaseException) -> UnreachableError:
    """A connection that was never made cannot have carried the request."""
    refused = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    return UnreachableError(str(error) or type(error).__name__, sent=not refused)


def _keepalive_socket(address: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
    """A socket on which the kernel notices within about a minute that the other side is gone."""
    family, kind, protocol, _, _ = address
    sock = socket.socket(family, kind, protocol)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return sock
