"""One connection pool to one API server.

Credentials, TLS and transport are the official client's (`kubernetes.aio`), objects are plain dictionaries.
Nothing is retried here: a caller that wants a second attempt says so where it can be read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import aiohttp
import msgspec

from schedlab.api import discovery
from schedlab.api.discovery import Resource
from schedlab.api.errors import ApiError
from schedlab.api.objects import Json, Object
from schedlab.api.patches import APPLY, MERGE, STRATEGIC
from schedlab.errors import EnvironmentStartError

__all__ = ["APPLY", "JSON", "MERGE", "STRATEGIC", "ApiError", "Client"]

JSON = "application/json"
REQUEST_TIMEOUT = aiohttp.ClientTimeout(total=30)


class Client:
    """Requests to one API server as one user."""

    def __init__(self, api: Json) -> None:
        self._api = api
        self._groups: dict[str, dict[str, Resource]] = {}

    @classmethod
    async def connect(cls, kubeconfig: Path, context: str | None = None) -> Self:
        """A client with the kubeconfig's server and credentials; no request is made yet.

        Raises:
            EnvironmentStartError: the kubeconfig is missing or unusable.
        """
        from kubernetes.aio import config as kube_config  # noqa: PLC0415 - half a second that only runs need

        try:
            api = await kube_config.new_client_from_config(
                config_file=str(kubeconfig), context=context, persist_config=False
            )
        except kube_config.ConfigException as error:
            raise EnvironmentStartError(f"{kubeconfig}: {error}", hint="check the kubeconfig") from error
        api.user_agent = "schedlab"
        return cls(api)

    async def close(self) -> None:
        """Close the connections; the client is of no use afterwards."""
        await self._api.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Object | None = None,
        content_type: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> Object:
        """The decoded answer to one request.

        Raises:
            ApiError: any status of 300 and above, or no answer at all.
        """
        what = f"{method} {path}"
        sent = self._send(
            method,
            path,
            query,
            body=body,
            content_type=content_type,
            headers=headers,
            limit=REQUEST_TIMEOUT,
        )
        async with sent as response:
            raw = await response.read()
            if response.status >= 300:
                raise _refusal(what, response.status, raw)
        return msgspec.json.decode(raw, type=dict) if raw else {}

    @asynccontextmanager
    async def stream(
        self, path: str, query: Mapping[str, str], idle: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of a watch; ends when the server ends it or sends nothing for `idle` seconds.

        Raises:
            ApiError: the watch is refused, or the connection breaks.
        """
        what = f"WATCH {path}"
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=idle)
        async with self._send("GET", path, query, limit=timeout) as response:
            if response.status >= 300:
                raise _refusal(what, response.status, await response.read())
            yield _lines(response)

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        *,
        body: Object | None = None,
        content_type: str = JSON,
        headers: Mapping[str, str] | None = None,
        limit: aiohttp.ClientTimeout,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        serialized = await self._api.param_serialize(
            method=method,
            resource_path=path,
            query_params=list((query or {}).items()),
            header_params={"Content-Type": content_type, "Accept": JSON, **(headers or {})},
            body=body,
            auth_settings=["BearerToken"],
        )
        verb, url, headers, data, _ = serialized
        try:
            answer = await self._api.call_api(verb, url, headers, data, _request_timeout=limit)
            async with answer.response as response:
                yield response
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            raise ApiError(
                f"{method} {path}", 0, "", f"no answer: {error or type(error).__name__}"
            ) from error

    async def resource(self, api_version: str, kind: str) -> Resource:
        """How the server serves a kind.

        Raises:
            ApiError: the server does not know the group version or the kind.
        """
        if api_version not in self._groups:
            answer = await self.request("GET", discovery.group_path(api_version))
            self._groups[api_version] = discovery.parse(answer)
        known = self._groups[api_version]
        if kind not in known:
            raise ApiError(
                f"{api_version} {kind}", 404, "NotFound", "the API server does not serve this kind"
            )
        return known[kind]

    async def get(self, resource: Resource, namespace: str, name: str) -> Object:
        """One object."""
        return await self.request("GET", resource.path(namespace, name))


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Split a stream into lines of any length; aiohttp's own line reader has a limit."""
    rest = b""
    async for chunk in response.content.iter_any():
        *complete, rest = (rest + chunk).split(b"\n")
        for line in complete:
            if line:
                yield line


def _refusal(what: str, status: int, raw: bytes) -> ApiError:
    try:
        answer = json.loads(raw)
    except ValueError:
        answer = {}
    if not isinstance(answer, dict):
        answer = {}
    text = answer.get("message") or raw[:500].decode(errors="replace")
    return ApiError(what, status, str(answer.get("reason") or ""), str(text), answer.get("details"))
