"""A core that decides pods one after another as the live loop does, but without an API server.

One decision is what the loop does between two events: pop, `schedule_one` (filter, score, assume, Reserve,
Permit) and the end of the attempt. Decoding, entering the queue and the clearing up after a batch are not
part of it. Every batch starts from the same state, so that a figure does not depend on how long it ran.
"""

from __future__ import annotations

from random import Random
from typing import cast

from kubesched.api.objects import Pod
from kubesched.clock import VirtualClock
from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.core import CoreOptions, build_core
from kubesched.framework.search import ALL_NODES
from kubesched.plugins.registry import registry
from kubesched.schedule_one import Core, schedule_one
from kubesched.state.events import WatchEvent
from tests.bench import workloads

_LARGEST_BATCH = 200


class Driver:
    """One core with nodes and existing pods, and the next batch of waiting pods."""

    def __init__(self, workload: str, node_count: int, existing: int, *, all_nodes: bool = True) -> None:
        self.core = _core(all_nodes=all_nodes)
        self._workload = workload
        self._batch = max(1, min(_LARGEST_BATCH, node_count // 8))
        self._made = 0
        for obj in workloads.nodes(node_count):
            self.core.cluster.apply(WatchEvent("ADDED", obj))
        for obj in workloads.existing(workload, existing, node_count):
            self.core.cluster.apply(WatchEvent("ADDED", obj))

    def prepare(self, count: int | None = None) -> int:
        """Put a batch of fresh pods into the queue; gives their number."""
        size = self._batch if count is None else count
        for number in range(self._made, self._made + size):
            self.core.queue.add(cast("Pod", workloads.pod(self._workload, f"new-{number}")))
        self._made += size
        return size

    async def decide(self) -> None:
        """Decide every pod in the queue. Raises RuntimeError for one that found no node."""
        core = self.core
        while (entry := core.queue.pop(core.clock.now())) is not None:
            outcome = await schedule_one(core, entry)
            if not outcome.assumed:
                raise RuntimeError(f"{entry.pod.key} was not placed: {outcome.message}")
            core.queue.binding(entry.uid)
            core.queue.done(entry.uid)

    def clear(self) -> None:
        """Take the pods of this batch off again."""
        for uid in self.core.cluster.assumed:
            self.core.cluster.forget(uid)


def _core(*, all_nodes: bool) -> Core:
    options = CoreOptions(default_configuration(), FeatureGates(), registry())
    core = build_core(options, VirtualClock(), Random(1))
    core.percentage_of_nodes_to_score = ALL_NODES if all_nodes else 0
    return core
