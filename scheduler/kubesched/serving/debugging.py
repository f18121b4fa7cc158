"""/debug/pprof and /debug/flags: what `--profiling` adds to the secure port.

Profiles come in pprof's own form, or as text with `debug=1`. Nothing blocks or contends in a process whose
one thread schedules, so those profiles are empty; an execution trace is Go's alone. Follows
`apiserver/pkg/server/routes/{profiling,flags}.go` and `net/http/pprof`.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable

from aiohttp import web

from kubesched import logs
from kubesched.config.flag_kinds import LEVEL
from kubesched.serving import profiles
from kubesched.serving.server import Route

_SECONDS = 30.0
_NOTHING: Callable[[], Counter[profiles.Stack]] = Counter
# Profile: what collects it, the type and unit of its values, and what it is.
_PROFILES = {
    "allocs": (profiles.memory, ("alloc_space", "bytes"), "As heap."),
    "block": (_NOTHING, ("contentions", "count"), "Empty: nothing blocks."),
    "goroutine": (profiles.tasks, ("goroutine", "count"), "Stacks of all tasks and threads."),
    "heap": (profiles.memory, ("inuse_space", "bytes"), "Memory in use; needs PYTHONTRACEMALLOC."),
    "mutex": (_NOTHING, ("contentions", "count"), "Empty: nothing contends."),
    "threadcreate": (profiles.threads, ("threadcreate", "count"), "Stacks of all threads."),
}
_SETTER = "successfully set klog.logging.verbosity to {}"


def routes() -> tuple[Route, ...]:
    """The routes to serve when profiling is on."""
    return (
        ("GET", "/debug/pprof", _to_index),
        ("GET", "/debug/pprof/", _index),
        ("GET", "/debug/pprof/profile", _profile),
        ("GET", "/debug/pprof/symbol", _symbol),
        ("POST", "/debug/pprof/symbol", _symbol),
        ("GET", "/debug/pprof/trace", _trace),
        ("GET", "/debug/pprof/{name}", _named),
        ("*", "/debug/flags/v", _verbosity),
        ("*", "/debug/flags", _flags),
        ("*", "/debug/flags/{name:.*}", _flags),
    )


async def _to_index(_: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "/debug/pprof/"})


async def _index(_: web.Request) -> web.StreamResponse:
    rows = [
        (str(len(collect())), f"{name}?debug=1", name, about)
        for name, (collect, _unit, about) in _PROFILES.items()
    ]
    rows.append(("", "profile", "profile", "CPU time of the next 30 s, or of seconds=N."))
    table = "\n".join(
        f"<tr><td>{count}</td><td><a href='{link}'>{name}</a></td><td>{about}</td></tr>"
        for count, link, name, about in rows
    )
    return _page("/debug/pprof/", f"<table>\n{table}\n</table>")


async def _named(request: web.Request) -> web.StreamResponse:
    name = request.match_info["name"]
    if name not in _PROFILES:
        return web.Response(status=404, text="Unknown profile\n")
    collect, unit, _ = _PROFILES[name]
    if request.query.get("debug", "0") != "0":
        return web.Response(text=profiles.text(name, collect()))
    return _attached(name, profiles.encode(collect(), unit))


async def _profile(request: web.Request) -> web.StreamResponse:
    """Sample for some seconds; a client that leaves ends it."""
    try:
        seconds = float(request.query.get("seconds", "")) or _SECONDS
    except ValueError:
        seconds = _SECONDS
    stop = threading.Event()
    try:
        seen = await asyncio.to_thread(profiles.running, seconds, stop)
    finally:
        stop.set()
    return _attached("profile", profiles.encode(seen, ("cpu", "nanoseconds"), period=10**9 // profiles.HERTZ))


async def _symbol(_: web.Request) -> web.StreamResponse:
    """Profiles carry their names, so that nobody has to look up an address."""
    return web.Response(text="num_symbols: 1\n")


async def _trace(_: web.Request) -> web.StreamResponse:
    return web.Response(status=501, text="an execution trace is Go's alone\n")


async def _flags(_: web.Request) -> web.StreamResponse:
    return _page("/debug/flags/", "flags:<br>v<br>full flags configurable<br>")


async def _verbosity(request: web.Request) -> web.StreamResponse:
    """PUT a number to log as if started with that `-v`."""
    if request.method != "PUT":
        return web.Response(status=406, text="unsupported http method")
    given = (await request.text()).strip()
    try:
        level = LEVEL.read(given)
    except ValueError as error:
        return web.Response(status=400, text=str(error))
    logs.set_verbosity(int(str(level)))
    return web.Response(text=_SETTER.format(level))


def _page(title: str, body: str) -> web.Response:
    text = f"<html><head><title>{title}</title></head><body>\n{body}\n</body></html>\n"
    return web.Response(text=text, content_type="text/html")


def _attached(name: str, body: bytes) -> web.Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=body, content_type="application/octet-stream", headers=headers)
