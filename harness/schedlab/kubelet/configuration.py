"""How the kubelets of a test are set up: `spec.kubelet`, in the words of KubeletConfiguration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedlab import timing
from schedlab.kubelet.stats import Disks
from schedlab.kubelet.thresholds import DEFAULT_HARD, Threshold, parse_thresholds, with_container_filesystem
from schedlab.suite.types import KubeletNeeds


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings in seconds and thresholds, checked."""

    thresholds: Sequence[Threshold] = ()
    max_pod_grace: int = 0
    transition_period: float = 300.0
    period: float = 10.0
    local_storage_isolation: bool = True
    disks: Disks = Disks.ONE


def configure(needs: KubeletNeeds) -> Configuration:
    """The settings that a test asks for; what it leaves unset is as in a kubelet (1.36).

    Hard thresholds that are given replace the default ones as a whole, unless they are to be merged.

    Raises:
        UsageError: a threshold, a grace period or a minimum is malformed; in the kubelet's words.
    """
    disks = Disks(needs.disks or "one")
    enforced = ["pods"] if needs.enforce_node_allocatable is None else needs.enforce_node_allocatable
    thresholds = parse_thresholds(
        hard=_hard(needs),
        soft=needs.eviction_soft or {},
        soft_grace=needs.eviction_soft_grace_period or {},
        minimum_reclaim=needs.eviction_minimum_reclaim or {},
        allocatable="pods" in enforced,
    )
    return Configuration(
        thresholds=with_container_filesystem(
            thresholds, dedicated_imagefs=disks is not Disks.ONE, split=disks is Disks.SPLIT
        ),
        max_pod_grace=needs.eviction_max_pod_grace_period or 0,
        transition_period=timing.parse_duration(needs.eviction_pressure_transition_period or "0") or 300.0,
        period=timing.parse_duration(needs.synchronize_period or "10s"),
        local_storage_isolation=needs.local_storage_capacity_isolation is not False,
        disks=disks,
    )


def _hard(needs: KubeletNeeds) -> Mapping[str, str]:
    if needs.eviction_hard is None:
        return DEFAULT_HARD
    defaults = DEFAULT_HARD if needs.merge_default_eviction_settings else {}
    return {**defaults, **needs.eviction_hard}
