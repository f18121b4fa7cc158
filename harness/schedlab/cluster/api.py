"""The few requests that booting a control plane needs: is it healthy, create these nodes, are they Ready.

Tests and assertions use the `kubernetes` package; this client exists because a start is a race against
seconds, and importing that package alone takes one.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

from schedlab import timing
from schedlab.cluster.layout import Layout
from schedlab.errors import EnvironmentStartError

_PARALLEL = 16


class ApiClient:
    """An asynchronous client of one API server, for the time of an `async with`."""

    def __init__(self, server: str, *, authority: Path, certificate: Path, key: Path) -> None:
        self._server = server
        self._tls = ssl.create_default_context(cafile=str(authority))
        self._tls.load_cert_chain(certificate, key)
        self._session: aiohttp.ClientSession | None = None

    @classmethod
    def of(cls, layout: Layout, server: str) -> Self:
        """A client with the administrator's certificate of a local control plane."""
        keys = layout.certificates
        return cls(server, authority=keys / "ca.crt", certificate=keys / "admin.crt", key=keys / "admin.key")

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self._tls, limit=_PARALLEL)
        self._session = aiohttp.ClientSession(self._server, connector=connector)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def healthy(self, path: str = "/readyz") -> bool:
        """True if the server answers 200 at `path`; no answer at all is False."""
        try:
            status, _ = await self.request("GET", path)
        except (aiohttp.ClientError, TimeoutError):
            return False
        return status == 200

    async def request(self, verb: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """The status code and the decoded answer (text where it is not JSON)."""
        if self._session is None:
            raise RuntimeError("use ApiClient as an async context manager")
        timeout = aiohttp.ClientTimeout(total=10)
        async with self._session.request(verb, path, json=body, timeout=timeout) as response:
            if response.content_type == "application/json":
                return response.status, await response.json()
            return response.status, await response.text()

    async def create_nodes(
        self, nodes: Sequence[dict[str, Any]], done: Callable[[float], None] = lambda _number: None
    ) -> None:
        """Create all nodes, a few at a time; `done` hears how many there are.

        Raises:
            EnvironmentStartError: the server refuses one; the message is the server's.
        """
        free = asyncio.Semaphore(_PARALLEL)
        created = 0

        async def create(node: dict[str, Any]) -> None:
            nonlocal created
            async with free:
                status, answer = await self.request("POST", "/api/v1/nodes", node)
            if status != 201:
                reason = answer.get("message", answer) if isinstance(answer, dict) else answer
                raise EnvironmentStartError(f"node {node['metadata']['name']} was refused: {reason}")
            created += 1
            done(created)

        await asyncio.gather(*(create(node) for node in nodes))

    async def wait_for_nodes(
        self,
        names: set[str],
        deadline: timing.Deadline,
        done: Callable[[float], None] = lambda _number: None,
    ) -> set[str]:
        """Wait until the named nodes can take pods; returns those that cannot when the deadline comes.

        `done` hears how many can. A listing of thousands keeps a core busy for a while, so large fleets are
        asked for less often.
        """
        waiting = set(names)

        async def all_ready() -> bool | None:
            _, listing = await self.request("GET", "/api/v1/nodes?resourceVersion=0")
            waiting.difference_update(
                node["metadata"]["name"] for node in listing["items"] if takes_pods(node)
            )
            done(len(names) - len(waiting))
            return None if waiting else True

        await timing.poll(all_ready, deadline, interval=max(0.05, len(names) / 2000))
        return waiting


async def etcd_healthy(socket: Path) -> bool:
    """True if the etcd that listens on a Unix socket has a leader and serves."""
    timeout = aiohttp.ClientTimeout(total=2)
    try:
        async with (
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(socket)), timeout=timeout) as session,
            session.get("http://etcd/health") as response,
        ):
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


def takes_pods(node: dict[str, Any]) -> bool:
    """True if a node is Ready and no longer carries the taint that every new node starts with."""
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    taints = node.get("spec", {}).get("taints", ())
    return ready and not any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)
