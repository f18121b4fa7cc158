"""What the scheduler offers a plugin when the plugin is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from kubesched.framework.extending import Extender
from kubesched.framework.interface import Plugin
from kubesched.framework.prebinding_pods import PrebindingPods
from kubesched.framework.preemptors import Preemptors
from kubesched.framework.waiting_pods import WaitingPods

if TYPE_CHECKING:
    from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim, Pod
    from kubesched.clock import Clock
    from kubesched.config.gates import FeatureGates
    from kubesched.framework.measured import Measure
    from kubesched.state import ClusterReader


class Writer(Protocol):
    """The writes that in-tree plugins make; the live client implements it."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Post the pod's binding; raises when the API server refuses it."""
        ...


class VolumeWriter(Protocol):
    """The writes that bind volumes to claims.

    Each raises when the API server refuses it, also because the object is no longer of the version given.
    """

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Write the volume's claimRef and annotations; give the volume as it is stored now."""
        ...

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Write the claim's annotations; give the claim as it is stored now."""
        ...


def nobody_counts() -> None:
    """Without metrics an attempt at preemption is not counted."""


def _nobody(_pods: Iterable[Pod]) -> None:
    """Without a queue there is no pod to activate."""


@dataclass(slots=True)
class Handle:
    """One per scheduler, shared by all profiles.

    The writers are None where nothing is written (explain); `activate` moves pods that wait for an event to
    the active queue.
    """

    cluster: ClusterReader
    clock: Clock
    gates: FeatureGates
    rng: Random
    writer: Writer | None = None
    volume_writer: VolumeWriter | None = None
    activate: Callable[[Iterable[Pod]], None] = _nobody
    waiting_pods: WaitingPods = field(default_factory=WaitingPods)
    prebinding_pods: PrebindingPods = field(default_factory=PrebindingPods)
    preemptors: Preemptors = field(default_factory=Preemptors)
    extenders: Sequence[Extender] = ()
    measure: Measure | None = None
    on_preemption: Callable[[], None] = nobody_counts


Factory: TypeAlias = Callable[[Any, Handle], Plugin]
"""Builds a plugin from its configured arguments (None when it has none) and the handle."""
