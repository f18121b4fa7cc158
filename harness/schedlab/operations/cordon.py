"""`cordon` and `uncordon`: machines are closed to new pods, and opened again, as kubectl does it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from schedlab.api.objects import Json
from schedlab.api.patches import MERGE
from schedlab.history.history import History
from schedlab.operations.base import Action, Env, Met, NotYet, Outcome, TimeoutKind
from schedlab.operations.kubelet import keys_of, known
from schedlab.operations.nodes import CORDONED
from schedlab.operations.selecting import refs


class _Marking(Action, kw_only=True):
    """What both have in common."""

    timeout_kind: ClassVar[TimeoutKind] = "nodes"
    closes: ClassVar[bool]

    nodes: Annotated[list[str], Meta(min_length=1, description="Their names.")]
    seen: Annotated[
        bool,
        Meta(
            description="Wait until the scheduler under test has seen it. A probe pod comes and goes for "
            "that, which may wake pending pods."
        ),
    ] = True

    async def run(self, env: Env, seconds: float) -> Json:
        """Patch each node, then wait for the controller's taint to come or go."""
        for name in self.nodes:
            known(env, name)
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
            await env.writer.patch({**node, "spec": {"unschedulable": self.closes or None}}, MERGE)
        await env.until(lambda history: marked(history, self.nodes, closed=self.closes), seconds)
        if self.seen:
            await env.scheduler_has_seen(self.nodes[-1], seconds)
        return self.nodes


class Cordon(_Marking, kw_only=True):
    """Close nodes to new pods, as `kubectl cordon`, and wait for the controller's taint.

    Pods that run there stay.

    ```yaml
    - cordon: {nodes: ["($gpu[0])"]}
    ```
    """

    tag: ClassVar[str] = "cordon"
    closes: ClassVar[bool] = True


class Uncordon(_Marking, kw_only=True):
    """Open nodes to new pods again, as `kubectl uncordon`, and wait until the controller's taint is gone.

    ```yaml
    - uncordon: {nodes: ($gpu), seen: false}     # in a test about being woken
    ```
    """

    tag: ClassVar[str] = "uncordon"
    closes: ClassVar[bool] = False


def marked(history: History, names: list[str], *, closed: bool) -> Outcome:
    """Met once all nodes carry, or have lost, the taint of a cordoned node."""
    expected = f"{', '.join(names)} {'with' if closed else 'without'} the taint {CORDONED}"
    for name in names:
        node = history.current.get("Node", name)
        if node is None:
            return NotYet(expected, f"{name} does not exist")
        if (CORDONED in keys_of(node)) != closed:
            seen = f"{name} has the taints {', '.join(sorted(keys_of(node))) or 'none'}"
            return NotYet(expected, seen, history.since(node), refs([node]))
    return Met(expected)
