"""`reboot`: machines go down and come back with their pods."""

from __future__ import annotations

import uuid
from typing import Annotated, ClassVar

from msgspec import Meta

from schedlab import timing
from schedlab.api.objects import Json, Object
from schedlab.api.patches import MERGE, STRATEGIC
from schedlab.operations.base import Action, Env, TimeoutKind
from schedlab.operations.kubelet import NOT_READY, known, mark, report, serving, tainted
from schedlab.operations.kubelet import start as start_kubelet
from schedlab.operations.selecting import finished, node_of, terminating
from schedlab.suite.types import Duration


class Reboot(Action, kw_only=True):
    """Reboot machines: they are NotReady for a while, then Ready with another boot ID.

    The pods on them stay bound, and each of their containers has one restart more. What a machine has is the
    same afterwards. `down` is how long they are away, after the node lifecycle controller has tainted them.

    ```yaml
    - reboot: {nodes: ["($gpu[0])"], down: 1s}
    ```
    """

    tag: ClassVar[str] = "reboot"
    timeout_kind: ClassVar[TimeoutKind] = "nodes"

    nodes: Annotated[list[str], Meta(min_length=1, description="Their names.")]
    down: Annotated[Duration, Meta(description="How long they are away.")] = "0"
    seen: Annotated[
        bool,
        Meta(
            description="Wait until the scheduler under test has seen them back. A probe pod comes and goes "
            "for that, which may wake pending pods."
        ),
    ] = True

    async def run(self, env: Env, seconds: float) -> Json:
        """Take all down, wait, restart their containers, and wait until all are Ready."""
        for name in self.nodes:
            known(env, name)
            await mark(env, name, "stopped")
            await report(env, name, "NotReady")
        await env.until(lambda history: tainted(history, self.nodes, NOT_READY), seconds)
        await timing.sleep(timing.parse_duration(self.down))
        for name in self.nodes:
            await _boot(env, name)
        await env.until(lambda history: serving(history, self.nodes), seconds)
        if self.seen:
            await env.scheduler_has_seen(self.nodes[-1], seconds)
        return self.nodes


async def _boot(env: Env, name: str) -> None:
    """A new boot ID, then the containers of the node's pods, then the kubelet."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    await env.writer.patch({**node, "status": {"nodeInfo": {"bootID": str(uuid.uuid4())}}}, MERGE, "status")
    for pod in env.history.current.list("Pod"):
        if node_of(pod) == name and not finished(pod) and not terminating(pod):
            await env.writer.patch(restarted(pod), STRATEGIC, "status")
    await start_kubelet(env, name)


def restarted(pod: Object) -> Object:
    """The patch of a pod's status by which each container that runs has started once more."""
    now = timing.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
    statuses = [
        {
            "name": entry["name"],
            "restartCount": int(entry.get("restartCount") or 0) + 1,
            "lastState": {"terminated": {"exitCode": 255, "reason": "Unknown", "finishedAt": now}},
            "state": {"running": {"startedAt": now}},
        }
        for entry in (pod.get("status") or {}).get("containerStatuses") or []
        if "running" in (entry.get("state") or {})
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "status": {"containerStatuses": statuses},
    }
