"""JSON posted to a service beside the API server, as kube-scheduler posts it to HTTP extenders.

One pool of connections per service, nothing retried. What fails is told in the words of Go's HTTP client,
since the text becomes the pod's condition. Follows `makeTransport` and `send` in `pkg/scheduler/extender.go`.
"""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit

import aiohttp

from kubesched.client.kubeconfig import Endpoint
from kubesched.client.tls import ClientTls

_CONNECTION_LOST = (aiohttp.ClientError, ConnectionError, ssl.SSLError)


class PostError(Exception):
    """No usable answer; `status` is the code of an answer that was no 200, else None."""

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class Poster:
    """Posts to one service. Close it when done."""

    def __init__(self, endpoint: Endpoint, *, seconds: float) -> None:
        """`seconds` bound one request from the connection to the last byte.

        Raises KubeconfigError for certificates that cannot be used.
        """
        self._tls = ClientTls(endpoint) if endpoint.server.startswith("https:") else None
        self._server_name = endpoint.server_name or None
        self._proxy = endpoint.proxy
        self._limits = aiohttp.ClientTimeout(total=seconds)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, body: bytes) -> bytes:
        """The body of a 200. Raises PostError."""
        try:
            async with self._open().post(
                url,
                data=body,
                headers={"Content-Type": "application/json"},
                timeout=self._limits,
                server_hostname=self._server_name,
                proxy=self._proxy,
            ) as response:
                if response.status != 200:
                    raise PostError(f"code {response.status}", response.status)
                return await response.read()
        except TimeoutError as error:
            raise PostError(
                f'Post "{url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
            ) from error
        except _CONNECTION_LOST as error:
            raise PostError(f'Post "{url}": {_reason(url, error)}') from error

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        """The session; it can only be made inside a running loop."""
        if self._session is None:
            connector = aiohttp.TCPConnector(ssl=self._tls.context if self._tls else True, limit=0)
            self._session = aiohttp.ClientSession(connector=connector)
        elif self._tls is not None:
            self._tls.refresh()
        return self._session


def _reason(url: str, error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ConnectionRefusedError):
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return f"dial tcp {parts.hostname}:{port}: connect: connection refused"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "EOF"
    return str(error) or type(error).__name__
