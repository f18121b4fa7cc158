"""What `--profiling` adds to the secure port."""

from __future__ import annotations

import asyncio
import gzip
import logging
import threading
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from kubesched.serving import debugging, profiles


@asynccontextmanager
async def served():
    app = web.Application()
    for method, path, handler in debugging.routes():
        app.router.add_route(method, path, handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}") as session:
        yield session
    await runner.cleanup()


@pytest.fixture
def verbosity():
    """The level of our loggers, put back at the end."""
    ours = logging.getLogger("kubesched")
    before = ours.level
    yield lambda: logging.INFO - ours.level
    ours.setLevel(before)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/debug/pprof/", 200),
        ("GET", "/debug/pprof", 200),
        ("GET", "/debug/pprof/goroutine", 200),
        ("GET", "/debug/pprof/heap", 200),
        ("GET", "/debug/pprof/allocs", 200),
        ("GET", "/debug/pprof/block", 200),
        ("GET", "/debug/pprof/mutex", 200),
        ("GET", "/debug/pprof/threadcreate", 200),
        ("GET", "/debug/pprof/symbol", 200),
        ("GET", "/debug/pprof/cmdline", 404),
        ("GET", "/debug/pprof/nope", 404),
        ("GET", "/debug/pprof/trace", 501),
        ("GET", "/debug/flags", 200),
        ("GET", "/debug/flags/nope", 200),
        ("GET", "/debug/flags/v", 406),
    ],
)
async def test_paths_answer_with_upstreams_codes(method, path, code):
    """Only the execution trace has no counterpart."""
    async with served() as session, session.request(method, path) as response:
        assert response.status == code


async def test_a_put_changes_the_verbosity_of_the_running_process(verbosity):
    async with served() as session:
        async with session.put("/debug/flags/v", data="7") as response:
            assert response.status == 200
            assert await response.text() == "successfully set klog.logging.verbosity to 7"
        assert verbosity() == 7
        async with session.put("/debug/flags/v", data="x") as response:
            assert response.status == 400
            assert await response.text() == 'strconv.ParseUint: parsing "x": invalid syntax'
        assert verbosity() == 7


async def test_tasks_are_shown_with_where_they_wait():
    async def waits_here():
        await asyncio.Event().wait()

    task = asyncio.create_task(waits_here(), name="w")
    async with served() as session, session.get("/debug/pprof/goroutine?debug=1") as response:
        assert "waits_here" in await response.text()
    task.cancel()


async def test_a_cpu_profile_names_what_was_at_work():
    """A thread that computes is seen; the profile is a gzipped message with its function's name."""
    done = threading.Event()

    def computes():
        while not done.is_set():
            sum(range(1000))

    worker = threading.Thread(target=computes)
    worker.start()
    try:
        async with served() as session, session.get("/debug/pprof/profile?seconds=0.2") as response:
            message = gzip.decompress(await response.read())
    finally:
        done.set()
        worker.join()
    assert b"computes" in message
    assert b"nanoseconds" in message


def test_a_profile_is_the_message_that_pprof_reads():
    """Two stacks that share a frame, as the fields of profile.proto."""
    root, leaf = ("root", "a.py", 1), ("leaf", "a.py", 300)
    message = gzip.decompress(profiles.encode({(leaf, root): 2, (root,): 1}, ("cpu", "ns"), period=10))
    fields = list(_fields(message))
    samples = [dict(_fields(body)) for number, body in fields if number == 2]
    assert samples == [{1: b"\x01\x02", 2: b"\x14"}, {1: b"\x02", 2: b"\x0a"}]
    strings = [body for number, body in fields if number == 6]
    assert strings == [b"", b"cpu", b"ns", b"leaf", b"a.py", b"root"]
    locations = [dict(_fields(body)) for number, body in fields if number == 4]
    assert [dict(_fields(place[4])) for place in locations] == [{1: 1, 2: 300}, {1: 2, 2: 1}]
    functions = [dict(_fields(body)) for number, body in fields if number == 5]
    assert functions == [{1: 1, 2: 3, 4: 4}, {1: 2, 2: 5, 4: 4}]
    assert (12, 10) in fields


def _fields(message: bytes):
    """Field number and value of a protobuf message that has only varints and bytes."""
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        value, position = _varint(message, position)
        if tag & 7 == 2:
            value, position = message[position : position + value], position + value
        yield tag >> 3, value


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position
