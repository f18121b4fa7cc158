"""How well the storage of each node would be used, behind the gate StorageCapacityScoring.

Follows upstream `volumebinding/scorer.go` and `Score` in `volume_binding.go` (1.36, alpha).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kubesched.api.quantity import value
from kubesched.framework import Points
from kubesched.plugins.volumes.binding.decision import Decision, Matched, Provisioned
from kubesched.plugins.volumes.binding.matching import NONE
from kubesched.plugins.volumes.claims import class_of_claim

_FULL = 100


@dataclass(slots=True)
class _Use:
    """What is asked of a class and what it has, in bytes, and in which worlds it takes part."""

    requested: NDArray[np.int64]
    capacity: NDArray[np.int64]
    takes_part: NDArray[np.bool_]


def points(decision: Decision, table: NDArray[np.int64]) -> Points:
    """The mean over storage classes of the table's value at their use.

    Existing volumes count where there are some, else volumes to be made. `table` has the points at 0..100 %.
    """
    static = any_static(decision)
    matched = _score(_matched(decision.matched, len(decision.codes)), table)
    made = _score(_provisioned(decision.provisioned, len(decision.codes)), table)
    return np.where(static, matched, made)


def any_static(decision: Decision) -> NDArray[np.bool_]:
    """Bool[K]: some claim gets an existing volume."""
    static = np.zeros(len(decision.codes), np.bool_)
    for item in decision.matched:
        static |= item.chosen != NONE
    return static


def _matched(matched: Iterable[Matched], worlds: int) -> Iterable[_Use]:
    uses: dict[str, _Use] = defaultdict(lambda: _nothing(worlds))
    for item in matched:
        sizes = [value(volume.spec.capacity.get("storage", 0)) for volume in item.volumes]
        got = item.chosen != NONE
        use = uses[class_of_claim(item.claim)]
        use.requested += np.where(got, _size(item), 0)
        use.capacity += np.where(got, np.array([*sizes, 0], np.int64)[item.chosen], 0)
        use.takes_part |= got
    return uses.values()


def _provisioned(provisioned: Iterable[Provisioned], worlds: int) -> Iterable[_Use]:
    uses: dict[str, _Use] = defaultdict(lambda: _nothing(worlds))
    for item in provisioned:
        counted = item.needed & (item.capacity > 0)
        use = uses[class_of_claim(item.claim)]
        use.requested += np.where(counted, _size(item), 0)
        use.capacity[counted] = item.capacity[counted]
        use.takes_part |= counted
    return uses.values()


def _size(item: Matched | Provisioned) -> int:
    return value(item.claim.spec.resources.requests.get("storage", 0))


def _nothing(worlds: int) -> _Use:
    zeros = np.zeros(worlds, np.int64)
    return _Use(zeros, zeros.copy(), np.zeros(worlds, np.bool_))


def _score(uses: Iterable[_Use], table: NDArray[np.int64]) -> Points:
    total: NDArray[np.int64] | int = 0
    classes: NDArray[np.int64] | int = 0
    for use in uses:
        full = (use.capacity == 0) | (use.requested > use.capacity)
        percent = np.where(full, _FULL, use.requested * _FULL // np.maximum(use.capacity, 1))
        total = total + np.where(use.takes_part, table[percent], 0)
        classes = classes + use.takes_part.astype(np.int64)
    mean = np.floor(np.asarray(total) / np.maximum(classes, 1) + 0.5)
    return mean.astype(np.int64)
