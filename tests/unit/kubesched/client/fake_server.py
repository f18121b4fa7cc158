"""An API server made of scripts: each answer is exactly the bytes a test wants, cut where it wants."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from kubesched.clock import SystemClock


@dataclass
class Request:
    """What a client sent."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


Handler = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class FakeServer:
    """Answers requests from scripts: `lists` and `watches` in order, else `default`."""

    lists: deque[Handler] = field(default_factory=deque)
    watches: deque[Handler] = field(default_factory=deque)
    writes: deque[Handler] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    port: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def listed(self) -> list[Request]:
        return [r for r in self.requests if r.method == "GET" and "watch" not in r.params]

    @property
    def watched(self) -> list[Request]:
        return [r for r in self.requests if "watch" in r.params]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                request = await _read(head, reader)
                self.requests.append(request)
                self.arrived.set()
                await self._handler(request)(request, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _handler(self, request: Request) -> Handler:
        if "watch" in request.params:
            return self.watches.popleft() if self.watches else hang
        queue = self.lists if request.method == "GET" else self.writes
        return queue.popleft() if queue else answer(500, status(500, "InternalError", "no script"))


async def _read(head: bytes, reader: asyncio.StreamReader) -> Request:
    first, *rest = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in rest if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Request(method, parts.path, dict(parse_qsl(parts.query, keep_blank_values=True)), headers, body)


@asynccontextmanager
async def running() -> AsyncIterator[FakeServer]:
    """A server on a free port, gone with everything it holds open at the end."""
    fake = FakeServer()
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.close()
        for writer in fake._writers:
            writer.transport.abort()
        await asyncio.sleep(0)  # noqa: TID251 - lets the aborted handlers end


def answer(code: int, body: object, **headers: str) -> Handler:
    """A whole answer with a JSON body."""

    async def handle(_: Request, writer: asyncio.StreamWriter) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {code} X", f"Content-Length: {len(data)}", "Content-Type: application/json"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        await writer.drain()

    return handle


def stream(*chunks: bytes, end: bool = True, cut: bool = False) -> Handler:
    """An endless answer in exactly these chunks; then it ends, is cut off, or stays open."""

    async def handle(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
            await asyncio.sleep(0)  # noqa: TID251 - so that the chunks arrive one by one
        if cut:
            writer.transport.abort()
        elif end:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        else:
            await asyncio.Event().wait()

    return handle


async def hang(_: Request, writer: asyncio.StreamWriter) -> None:
    """An open watch on which nothing happens."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    await asyncio.Event().wait()


async def drop(_: Request, writer: asyncio.StreamWriter) -> None:
    """No answer: the connection is reset."""
    writer.transport.abort()


def status(code: int, reason: str, message: str = "") -> dict[str, object]:
    """A Status object."""
    return {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}


def listing(version: str, *items: dict[str, object]) -> Handler:
    """A list answer."""
    return answer(200, {"kind": "List", "metadata": {"resourceVersion": version}, "items": list(items)})


def node(name: str, version: str, uid: str | None = None, **labels: str) -> dict[str, object]:
    """A Node as the API writes it."""
    meta = {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": version, "labels": labels}
    return {"metadata": meta, "spec": {}, "status": {}}


def line(kind: str, obj: dict[str, object]) -> bytes:
    """A watch line."""
    return json.dumps({"type": kind, "object": obj}, ensure_ascii=False).encode() + b"\n"


class SkippingClock(SystemClock):
    """Sleeps take no time, but count: `now` moves by what was slept, and `slept` remembers it."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 1000.0

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += max(seconds, 0.0)
        await super().sleep(0)
