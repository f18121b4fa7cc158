"""The tap: an HTTP extender that listens and never answers.

kube-scheduler hands a filter extender the whole feasible set, even when a single node is left and nothing is
scored, and a preemption extender all candidates with their victims and PDB violations. This one notes them
and replies 500; being `ignorable`, it is then left out, so the decision stays kube-scheduler's own. Side
effects, all known: ties are broken at random, batching is off, and it is not asked when no node is feasible.
Follows upstream pkg/scheduler/extender.go and staging/src/k8s.io/kube-scheduler/extender/v1 (1.36).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from schedlab.decisions.decision import NodeName

Uid = str


@dataclass(frozen=True, slots=True)
class TappedCandidate:
    """One preemption candidate as the extender sees it: the victims' UIDs and how many budgets they break."""

    victims: frozenset[Uid]
    violations: int


@dataclass(slots=True)
class Tapped:
    """All that the tap has heard about one pod, call by call."""

    feasible: list[frozenset[NodeName]] = field(default_factory=list)
    candidates: list[dict[NodeName, TappedCandidate]] = field(default_factory=list)


class Tap:
    """Serves the two verbs on a loopback port and keeps what was said, by pod UID.

    The extender types have no JSON tags, so keys are Go's field names. `heard` is called after every message.
    """

    def __init__(self, heard: Callable[[], None] = lambda: None) -> None:
        self._heard = heard
        self._pods: dict[Uid, Tapped] = {}
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def start(self, port: int) -> None:
        """Listen on 127.0.0.1:`port`; port 0 takes a free one. Sets `url`."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/filter", self._filter)
        app.router.add_post("/preempt", self._preempt)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        _, bound = self._runner.addresses[0]
        self.url = f"http://127.0.0.1:{bound}"

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def extender(self) -> dict[str, Any]:
        """The `extenders` entry of a KubeSchedulerConfiguration that makes a scheduler talk to this tap."""
        return {
            "urlPrefix": self.url,
            "filterVerb": "filter",
            "preemptVerb": "preempt",
            "nodeCacheCapable": True,
            "ignorable": True,
            "httpTimeout": "30s",
        }

    def heard(self, uid: Uid) -> Tapped:
        """What was said about the pod so far; empty if nothing was."""
        return self._pods.get(uid, Tapped())

    def forget(self, uid: Uid) -> None:
        """Drop what is known about a pod, for example before it is tried again."""
        self._pods.pop(uid, None)

    async def _filter(self, request: web.Request) -> web.Response:
        said = json.loads(await request.read())
        self._note(said).feasible.append(frozenset(said["NodeNames"] or ()))
        self._heard()
        return web.Response(status=500)

    async def _preempt(self, request: web.Request) -> web.Response:
        said = json.loads(await request.read())
        by_node = said["NodeNameToMetaVictims"] or {}
        candidates = {node: _candidate(meta) for node, meta in by_node.items()}
        self._note(said).candidates.append(candidates)
        self._heard()
        return web.Response(status=500)

    def _note(self, said: dict[str, Any]) -> Tapped:
        return self._pods.setdefault(said["Pod"]["metadata"]["uid"], Tapped())


def _candidate(meta: dict[str, Any]) -> TappedCandidate:
    victims = frozenset(pod["UID"] for pod in meta["Pods"] or ())
    return TappedCandidate(victims, meta["NumPDBViolations"])
