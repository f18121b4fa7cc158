"""From options to a core: the state, the queue and the profiles of one scheduler, wired but not yet running.

Live scheduling, `explain` and `simulate` start from the same pieces. Follows `scheduler.New` in
`pkg/scheduler/scheduler.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from kubesched.api.objects import Pod
from kubesched.clock import Clock
from kubesched.config.extended import extended_profiles
from kubesched.config.gates import FeatureGates
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.framework.extending import Extender
from kubesched.framework.handle import Handle, VolumeWriter, Writer, nobody_counts
from kubesched.framework.measured import Measure
from kubesched.framework.profile import build
from kubesched.framework.registry import Registry
from kubesched.framework.runtime import Framework
from kubesched.queue import SchedulingQueue
from kubesched.queue.hints import Observe
from kubesched.queue.places import OnMove
from kubesched.schedule_one import Core
from kubesched.state.cluster import Cluster


@dataclass(frozen=True, slots=True)
class CoreOptions:
    """What a core is made of beyond the configuration. `max_in_unschedulable` is in seconds."""

    config: KubeSchedulerConfiguration
    gates: FeatureGates
    registry: Registry
    max_in_unschedulable: float = 300.0
    writer: Writer | None = None
    volume_writer: VolumeWriter | None = None
    on_move: OnMove | None = None
    on_hint: Observe | None = None
    extenders: Sequence[Extender] = ()
    measure: Measure | None = None
    on_preemption: Callable[[], None] = nobody_counts


def build_core(options: CoreOptions, clock: Clock, rng: Random) -> Core:
    """A core with an empty state. Raises ValueError for profiles that cannot work."""
    config = options.config
    cluster = Cluster(clock)

    def activate(pods: Iterable[Pod]) -> None:
        queue.activate(pods)

    handle = Handle(
        cluster=cluster,
        clock=clock,
        gates=options.gates,
        rng=rng,
        writer=options.writer,
        volume_writer=options.volume_writer,
        activate=activate,
        extenders=options.extenders,
        measure=options.measure,
        on_preemption=options.on_preemption,
    )
    profiles: dict[str, Framework] = {
        profile.scheduler_name: build(profile, options.registry, handle)
        for profile in extended_profiles(config)
    }
    sort = next(iter(profiles.values())).queue_sort
    if sort is None:
        raise ValueError("no queue sort plugin is enabled")
    queue = SchedulingQueue(
        clock,
        {name: framework.hints for name, framework in profiles.items()},
        less=sort.less,
        pre_enqueue={name: framework.pre_enqueues for name, framework in profiles.items()},
        initial_backoff=float(config.pod_initial_backoff_seconds),
        max_backoff=float(config.pod_max_backoff_seconds),
        max_in_unschedulable=options.max_in_unschedulable,
        pop_from_backoff=options.gates.enabled("SchedulerPopFromBackoffQ"),
        on_move=options.on_move,
        on_hint=options.on_hint,
    )
    return Core(
        cluster,
        queue,
        profiles,
        clock,
        rng,
        percentage_of_nodes_to_score=config.percentage_of_nodes_to_score,
    )
