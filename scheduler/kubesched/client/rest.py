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
from kubesched.client.traffic import NoTraffic, Traffic
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

    def __init__(
        self, endpoint: Endpoint, clock: Clock, *, user_agent: str, traffic: Traffic | None = None
    ) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._traffic = traffic or NoTraffic()
        self._server_name = endpoint.server_name or None
        self._proxy = endpoint.proxy
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
        asked = self._clock.now()
        headers = {} if body is None else {"Content-Type": content_type}
        try:
            for _ in range(_ATTEMPTS - 1):
                try:
                    return await self._in_turn(method, path, lane, headers, body=body, params=params)
                except ApiError as error:
                    if error.retry_after is None or error.status not in {429, 503}:
                        raise
                    delay, code = error.retry_after, str(error.status)
                _log.info("Server asked to wait", v=2, lane=lane.name, seconds=delay, path=path)
                await self._clock.sleep(delay)
                self._traffic.retried(method, code)
            return await self._in_turn(method, path, lane, headers, body=body, params=params)
        finally:
            self._traffic.took(method, self._clock.now() - asked)

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
        answered = False
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT, sock_read=_STREAM_SILENCE)
        try:
            async with self._session.get(
                self._url(path),
                params=params,
                headers=await self._headers(),
                timeout=timeout,
                server_hostname=self._server_name,
                proxy=self._proxy,
            ) as response:
                answered = True
                self._traffic.answered("GET", str(response.status), sent=None, received=None)
                if response.status >= 400:
                    raise self._refusal(response, await response.read())
                yield response.content.iter_any()
        except _CONNECTION_LOST as error:
            if not answered:
                self._traffic.answered("GET", "<error>", sent=None, received=None)
            raise _unreachable(error) from error

    async def _in_turn(
        self,
        method: str,
        path: str,
        lane: Lane,
        headers: Mapping[str, str],
        *,
        body: bytes | None,
        params: Mapping[str, str] | None,
    ) -> bytes:
        """One try, when the lane lets it."""
        asked = self._clock.now()
        async with lane.slot():
            self._traffic.waited(method, self._clock.now() - asked)
            limits = aiohttp.ClientTimeout(total=lane.timeout, sock_connect=_CONNECT_TIMEOUT)
            headers = {**headers, **await self._headers()}
            sent = None if body is None else len(body)
            try:
                async with self._session.request(
                    method, self._url(path), data=body, params=params, headers=headers, timeout=limits,
                    server_hostname=self._server_name, proxy=self._proxy,
                ) as response:  # fmt: skip
                    data = await response.read()
            except _CONNECTION_LOST as error:
                self._traffic.answered(method, "<error>", sent=sent, received=None)
                raise _unreachable(error) from error
            self._traffic.answered(method, str(response.status), sent=sent, received=len(data))
            if response.status >= 400:
                raise self._refusal(response, data)
            return data

    def _refusal(self, response: aiohttp.ClientResponse, data: bytes) -> ApiError:
        if response.status == 401:
            self._endpoint.tokens.invalidate()
        return from_response(response.status, response.headers, data)

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
