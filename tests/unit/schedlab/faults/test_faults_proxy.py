"""The proxy is the API server to its client, byte by byte, until a fault says otherwise."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from schedlab.cluster import pki
from schedlab.cluster.ports import HOST, PortReservations
from schedlab.errors import UsageError
from schedlab.faults.front import Front
from schedlab.faults.rules import Effect, Fault, Stream

PROTOBUF = bytes(range(256))


class Server:
    """As much of an API server as the proxy can tell: it wants a client certificate and echoes."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str, bytes]] = []
        self.watching = asyncio.Event()
        self.events = [b"first\n"]

    async def echo(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        certificate = request.transport.get_extra_info("peercert")
        who = dict(part[0] for part in certificate["subject"])["commonName"]
        body = await request.read()
        self.seen.append((who, request.method, request.raw_path, body))
        if request.query.get("watch"):
            return await self.watch(request)
        headers = {"Content-Encoding": "gzip", "X-Kept": "yes"}
        return web.Response(status=201, body=gzip.compress(PROTOBUF), headers=headers)

    async def watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"".join(self.events))
        self.watching.set()
        await asyncio.Event().wait()
        return response


class Plane:
    """A control plane that is a server and its certificates."""

    def __init__(self, directory: Path) -> None:
        self.ports = PortReservations()
        self.authority = pki.CertificateAuthority("test")
        pair = self.authority.server([HOST], ["localhost"])
        self.serving_pair = (
            pki.write_private(directory / "server.crt", pair.certificate),
            pki.write_private(directory / "server.key", pair.key),
        )
        self.authority_file = pki.write_private(directory / "ca.crt", self.authority.certificate)
        self.port = self.reserve_port()
        self.server = f"https://{HOST}:{self.port}"
        self.kubeconfig = pki.write_kubeconfig(
            directory / "mine.yaml",
            server=self.server,
            cluster="c",
            authority=self.authority.certificate,
            user="system:kube-scheduler",
            credential=self.authority.client("system:kube-scheduler"),
        )

    def reserve_port(self) -> int:
        return self.ports.reserve()

    def release_port(self, port: int) -> None:
        self.ports.release(port)


class World:
    """A server, a proxy before it, and a client that knows only the kubeconfig it was given."""

    def __init__(self, directory: Path) -> None:
        self.plane = Plane(directory)
        self.server = Server()
        self.front = Front(self.plane)  # type: ignore[arg-type]
        self.url = ""
        context = ssl.create_default_context(cafile=str(self.plane.authority_file))
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context), timeout=aiohttp.ClientTimeout(total=5)
        )
        self.runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.server.echo)
        self.runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self.runner.setup()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.plane.authority_file))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(*self.plane.serving_pair)
        site = web.TCPSite(self.runner, HOST, self.plane.port, ssl_context=context, reuse_port=True)
        await site.start()
        kubeconfig = await self.front.open("mine", self.plane.kubeconfig)
        self.url = kubeconfig.read_text().split("server: ")[1].split()[0]

    async def close(self) -> None:
        await self.session.close()
        await self.front.close()
        if self.runner is not None:
            await self.runner.cleanup()
        self.plane.ports.close()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Started, and closed in the end."""
    world = World(tmp_path)
    await world.start()
    yield world
    await world.close()


BINDING = "/api/v1/namespaces/ns/pods/w%2Fx/binding?dryRun=All"


async def test_requests_pass_unchanged(world: World) -> None:
    """Method, escaped path, query, body, status, headers and encoding; with the process's credential."""
    async with world.session.post(URL(world.url + BINDING, encoded=True), data=PROTOBUF) as answer:
        assert (answer.status, answer.headers["X-Kept"]) == (201, "yes")
        assert await answer.read() == PROTOBUF
    assert world.server.seen == [("system:kube-scheduler", "POST", BINDING, PROTOBUF)]
    assert world.url != world.plane.server


async def test_an_answer_comes_in_the_servers_place(world: World) -> None:
    """As a Status, with Retry-After; the server has not been asked."""
    world.front.begin(Fault(Effect(answer=429, retry_after=3), verbs=["create"]))
    async with world.session.post(f"{world.url}/api/v1/namespaces/ns/pods/w/binding") as answer:
        status = await answer.json()
        assert (answer.status, answer.headers["Retry-After"]) == (429, "3")
        assert (status["kind"], status["reason"], status["code"]) == ("Status", "TooManyRequests", 429)
    async with world.session.get(f"{world.url}/api/v1/pods") as answer:
        assert answer.status == 201
    assert len(world.server.seen) == 1


async def test_a_lost_answer_was_given(world: World) -> None:
    """The server has done what was asked; the client sees its connection reset."""
    world.front.begin(Fault(Effect(lose=True), times=1))
    with pytest.raises(aiohttp.ClientError):
        await world.session.post(f"{world.url}/api/v1/nodes")
    assert [method for _, method, _, _ in world.server.seen] == ["POST"]
    async with world.session.post(f"{world.url}/api/v1/nodes") as answer:
        assert answer.status == 201


async def test_a_cut_breaks_open_watches_too(world: World) -> None:
    """Only those that it is about; afterwards all is as before."""
    async with world.session.get(f"{world.url}/api/v1/pods?watch=true") as watch:
        assert await watch.content.readline() == b"first\n"
        world.front.begin(Fault(Effect(cut=True), resources=["nodes"]))
        await asyncio.wait({asyncio.ensure_future(world.server.watching.wait())}, timeout=0.05)
        assert not watch.content.at_eof()
        name = world.front.begin(Fault(Effect(cut=True)))
        with pytest.raises(aiohttp.ClientError):
            await watch.content.readline()
    with pytest.raises(aiohttp.ClientError):
        await world.session.get(f"{world.url}/api/v1/pods")
    world.front.end(name)
    async with world.session.get(f"{world.url}/api/v1/pods") as answer:
        assert answer.status == 201


async def test_a_hanging_request_gets_nothing(world: World) -> None:
    """And never reaches the server."""
    world.front.begin(Fault(Effect(hang=True)))
    with pytest.raises(TimeoutError):
        await world.session.get(f"{world.url}/api/v1/pods", timeout=aiohttp.ClientTimeout(total=0.1))
    assert world.server.seen == []


async def test_a_delay_comes_first(world: World) -> None:
    """Then the request goes on to the server."""
    world.front.begin(Fault(Effect(delay=0.15), times=1))
    begin = asyncio.get_running_loop().time()
    async with world.session.get(f"{world.url}/api/v1/pods") as answer:
        assert answer.status == 201
    assert asyncio.get_running_loop().time() - begin >= 0.15


EVENTS = [b"one\n", b"two\n", b"three\n", b"four\n"]


async def events(world: World, count: int) -> list[bytes]:
    """The first lines of a watch."""
    async with world.session.get(f"{world.url}/api/v1/nodes?watch=true") as watch:
        return [await watch.content.readline() for _ in range(count)]


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        (Stream(duplicate=True), [b"one\n", b"two\n", b"two\n", b"three\n", b"four\n"]),
        (Stream(reorder=True), [b"one\n", b"three\n", b"two\n", b"four\n"]),
        (Stream(slice=1), EVENTS),
    ],
    ids=["duplicate", "reorder", "slice"],
)
async def test_events_come_otherwise_than_they_were_sent(
    world: World, stream: Stream, told: list[bytes]
) -> None:
    """The second and, if two are needed, the third; those of other kinds as they were."""
    world.server.events = EVENTS
    world.front.begin(Fault(Effect(stream=Stream(tear=True)), resources=["pods"]))
    world.front.begin(
        Fault(Effect(stream=stream), resources=["nodes"], skip=1, times=2 if stream.reorder else 1)
    )
    assert await events(world, len(told)) == told


async def test_a_torn_event_is_the_last(world: World) -> None:
    """Half of it comes, then the connection is gone."""
    world.server.events = EVENTS
    world.front.begin(Fault(Effect(stream=Stream(tear=True)), skip=2))
    async with world.session.get(f"{world.url}/api/v1/nodes?watch=true") as watch:
        assert [await watch.content.readline() for _ in range(2)] == EVENTS[:2]
        with pytest.raises(aiohttp.ClientError):
            await watch.content.readline()


async def test_a_watch_ends_with_an_error_event(world: World) -> None:
    """As an API server says that a version is too old."""
    world.server.events = EVENTS
    world.front.begin(Fault(Effect(stream=Stream(error=410)), skip=1))
    async with world.session.get(f"{world.url}/api/v1/nodes?watch=true") as watch:
        assert await watch.content.readline() == b"one\n"
        event = json.loads(await watch.content.readline())
        assert (event["type"], event["object"]["code"], event["object"]["reason"]) == (
            "ERROR",
            410,
            "Expired",
        )
        assert await watch.content.read() == b""


async def test_stalled_events_come_when_the_fault_ends(world: World) -> None:
    """All of them, in order."""
    world.server.events = EVENTS
    name = world.front.begin(Fault(Effect(stream=Stream(stall=True))))
    told = asyncio.create_task(events(world, 4))
    done, _ = await asyncio.wait({told}, timeout=0.1)
    assert not done
    world.front.end(name)
    assert await told == EVENTS


async def test_mistakes_are_said(world: World) -> None:
    """A process without a proxy; a fault that is not in force."""
    with pytest.raises(UsageError, match="no process 'other' goes through a proxy"):
        world.front.begin(Fault(Effect(cut=True), processes=["other"]))
    with pytest.raises(UsageError, match="no fault 'fault-9' is in force"):
        world.front.end("fault-9")
