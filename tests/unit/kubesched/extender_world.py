"""An HTTP extender of a few lines, and schedulers that ask it."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from kubesched.config.types import Extender
from kubesched.extender import HttpExtender


@dataclass
class Service:
    """Answers each verb with what a test gives it, and keeps what it was asked."""

    answers: dict[str, Callable[[dict], Any]]
    url: str = ""
    asked: list[tuple[str, dict]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        verb = request.path.rpartition("/")[2]
        said = json.loads(await request.read())
        self.asked.append((verb, said))
        answer = self.answers[verb](said)
        if isinstance(answer, web.Response):
            return answer
        return web.json_response(answer)

    def extender(self, **fields) -> HttpExtender:
        """The extender as a scheduler that is configured so sees it."""
        verbs = {f"{verb}_verb": verb for verb in self.answers}
        weight = 1 if "prioritize" in self.answers else 0
        return HttpExtender(Extender(**{"url_prefix": self.url, "weight": weight, **verbs, **fields}))


@asynccontextmanager
async def service(tls: ssl.SSLContext | None = None, **answers):
    """A service on a free port that answers these verbs."""
    made = Service(answers)
    app = web.Application()
    app.router.add_post("/{verb}", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    made.url = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()
