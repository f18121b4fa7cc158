"""An API server for watches, made of scripts: what each list and each watch answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from schedlab.api import ApiError, Object, Resource

PODS = Resource("v1", "Pod", "pods", namespaced=True)


def pod(name: str, version: int, **labels: str) -> Object:
    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "labels": labels,
        }
    }


class ScriptedServer:
    """Lists and watches answer one script entry after the other; after the last one, a watch stays silent."""

    def __init__(self) -> None:
        self.lists: list[tuple[int, list[Object]]] = []
        self.watches: list[list[dict[str, Any]] | ApiError] = []
        self.asked: list[str] = []
        self.silent = asyncio.Event()

    async def request(self, method: str, path: str, **_more: object) -> Object:
        self.asked.append(f"{method} {path}")
        version, items = self.lists.pop(0)
        return {"metadata": {"resourceVersion": str(version)}, "items": items}

    @asynccontextmanager
    async def stream(self, path: str, query: Mapping[str, str], idle: float) -> AsyncIterator[Any]:
        self.asked.append(f"WATCH {path} from {query['resourceVersion']}")
        if not self.watches:
            self.silent.set()
            await asyncio.Event().wait()
        script = self.watches.pop(0)
        if isinstance(script, ApiError):
            raise script
        yield self._lines(script)

    async def _lines(self, events: list[dict[str, Any]]) -> AsyncIterator[bytes]:
        for event in events:
            yield msgspec.json.encode(event)

    async def resource(self, api_version: str, kind: str) -> Resource:
        return Resource(api_version, kind, kind.lower() + "s", namespaced=True)
