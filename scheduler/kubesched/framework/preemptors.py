"""Preemptors whose victims are being asked to leave: another attempt would only find the victims there.

Follows what upstream's asynchronous preemption does with `preempting` and `lastVictimsPendingPreemption`
(framework/preemption/executor.go, 1.36). It differs in one point: whoever was held back is told when the
evictions end, so that no pod waits for an event that came too early.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.state import ClusterReader


class Preemptors:
    """Preemptors by uid, each with the victims that its evictions ask to leave."""

    def __init__(self) -> None:
        self._victims: dict[str, tuple[str, ...]] = {}
        self._held: set[str] = set()

    def begin(self, preemptor: Pod, victims: Sequence[Pod]) -> None:
        """The evictions of those victims that do not terminate anyway are about to start."""
        leaving = tuple(pod.uid for pod in victims if not pod.is_terminating)
        if leaving:
            self._victims[preemptor.uid] = leaving

    def end(self, uid: str) -> bool:
        """The evictions ended, well or not; True when the preemptor was held back: try it again."""
        self._victims.pop(uid, None)
        held = uid in self._held
        self._held.discard(uid)
        return held

    def holds(self, preemptor: Pod, cluster: ClusterReader) -> bool:
        """Whether some victim is still to be asked; one that is gone or terminates has been."""
        waiting = any(
            (pod := cluster.pods.by_uid.get(uid)) is not None and not pod.is_terminating
            for uid in self._victims.get(preemptor.uid, ())
        )
        if waiting:
            self._held.add(preemptor.uid)
        return waiting
