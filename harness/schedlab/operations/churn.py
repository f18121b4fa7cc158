"""`churn`: nodes change all the time, as in a real cluster."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta
from msgspec import field as struct_field

from schedlab import timing
from schedlab.api.objects import Json, Object
from schedlab.api.patches import MERGE
from schedlab.operations.base import Action, Env, OperationError, TimeoutKind
from schedlab.operations.kubelet import known
from schedlab.suite.types import Duration, Natural, Positive

Change = Literal["annotation", "capacity", "cordon", "label", "taint"]

LABEL = "schedlab/churn"


class Churn(Action, kw_only=True):
    """Change nodes again and again for a while; at the end all is as it was.

    `rate` times a second one of the nodes is picked and one of the `changes` made to it, or taken back if it
    is in force there. The same `seed` makes the same changes in the same order, so a run can be repeated.
    Nothing else of the test runs meanwhile except what controllers do: apply a Deployment first, and its pods
    are scheduled while nodes change. `as` binds the number of writes.

    * `annotation`: an annotation that no scheduler reads.
    * `label`: the label `schedlab/churn`.
    * `taint`: a taint `schedlab/churn:PreferNoSchedule`; other taints that come meanwhile are lost.
    * `cordon`: `spec.unschedulable`.
    * `capacity`: one pod less than the machine has room for.

    ```yaml
    - churn: {nodes: ($cpu), rate: 50, duration: 2s, changes: [label, capacity], seed: 7}
    ```
    """

    tag: ClassVar[str] = "churn"
    timeout_kind: ClassVar[TimeoutKind] = "nodes"

    nodes: Annotated[list[str], Meta(min_length=1, description="Names of the nodes that change.")]
    duration: Annotated[Duration, Meta(description="For how long.")]
    rate: Annotated[Positive, Meta(description="Changes per second.")] = 10
    changes: Annotated[list[Change], Meta(min_length=1, description="What changes.")] = struct_field(
        default_factory=lambda: ["label"]
    )
    seed: Annotated[Natural, Meta(description="Other seeds make other choices.")] = 0

    async def run(self, env: Env, seconds: float) -> Json:
        """Make one change after the other at the rate, then take back those that are in force."""
        length = timing.parse_duration(self.duration)
        if length >= seconds:
            raise OperationError(
                f"{self.duration} of churn do not fit into the operation's time of {seconds:g}s",
                hint="give it a longer `timeout`",
            )
        before = {name: known(env, name) for name in self.nodes}
        choices = random.Random(self.seed)  # noqa: S311 - repeatable, not secret
        began, number = timing.monotonic(), 0
        in_force: set[tuple[str, Change]] = set()
        while number < int(length * self.rate):
            chosen = (choices.choice(self.nodes), choices.choice(self.changes))
            in_force ^= {chosen}
            await _write(env, before[chosen[0]], chosen[1], on=chosen in in_force)
            number += 1
            await timing.sleep(max(0.0, began + number / self.rate - timing.monotonic()))
        for name, change in sorted(in_force):
            await _write(env, before[name], change, on=False)
        return number + len(in_force)


async def _write(env: Env, node: Object, change: Change, *, on: bool) -> None:
    """Make a change to a node, or take it back: the node's own value is written again."""
    subresource = "status" if change == "capacity" else ""
    patch = _patches(node, on=on)[change]
    metadata = {"name": node["metadata"]["name"], **patch.get("metadata", {})}
    item = {"apiVersion": "v1", "kind": "Node", **patch, "metadata": metadata}
    await env.writer.patch(item, MERGE, subresource)


def _patches(node: Object, *, on: bool) -> Mapping[Change, dict[str, Any]]:
    """What each change says about a node."""
    spec = node.get("spec") or {}
    taints = [*(spec.get("taints") or []), {"key": LABEL, "effect": "PreferNoSchedule"}]
    pods = str((node.get("status") or {}).get("allocatable", {}).get("pods", "110"))
    fewer = str(max(0, int(pods) - 1)) if on else pods
    return {
        "annotation": {"metadata": {"annotations": {LABEL: "on" if on else None}}},
        "label": {"metadata": {"labels": {LABEL: "on" if on else None}}},
        "taint": {"spec": {"taints": taints if on else spec.get("taints") or None}},
        "cordon": {"spec": {"unschedulable": on or spec.get("unschedulable") or None}},
        "capacity": {"status": {"capacity": {"pods": fewer}, "allocatable": {"pods": fewer}}},
    }
