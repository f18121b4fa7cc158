"""Eviction thresholds: what a configuration says about signals, what it must not say, and when it is met.

Follows pkg/kubelet/eviction/helpers.go (ParseThresholdConfig, UpdateContainerFsThresholds) and the kubelet's
defaults (defaults_linux.go), errors included.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from schedlab import timing
from schedlab.errors import UsageError
from schedlab.kubelet.quantities import Form, Quantity, parse
from schedlab.kubelet.signals import (
    ALLOCATABLE,
    CONTAINERFS,
    CONTAINERFS_INODES,
    IMAGEFS,
    IMAGEFS_INODES,
    MEMORY,
    NODEFS,
    NODEFS_INODES,
    RESOURCES,
    Observations,
)

DEFAULT_HARD: Mapping[str, str] = {
    MEMORY: "100Mi",
    NODEFS: "10%",
    NODEFS_INODES: "5%",
    IMAGEFS: "15%",
    IMAGEFS_INODES: "5%",
}

_PERCENTAGE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)%")


@dataclass(frozen=True, slots=True)
class Bound:
    """An amount, or a share of the capacity; the share is a 32-bit float, as the kubelet keeps it."""

    quantity: Quantity | None = None
    share: float = 0.0

    def of(self, capacity: int) -> Quantity:
        """The amount, given the capacity."""
        if self.quantity is not None:
            return self.quantity
        return Quantity(int(float(capacity) * self.share), Form.BINARY)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Less than `bound` for `grace` seconds means eviction; `reclaim` above it means that it is over."""

    signal: str
    bound: Bound
    grace: float = 0.0
    reclaim: Bound | None = None

    @property
    def hard(self) -> bool:
        """No grace period: pods are killed at once."""
        return self.grace == 0


def parse_thresholds(
    *,
    hard: Mapping[str, str],
    soft: Mapping[str, str],
    soft_grace: Mapping[str, str],
    minimum_reclaim: Mapping[str, str],
    allocatable: bool,
) -> list[Threshold]:
    """All thresholds of a configuration, hard ones first.

    With `allocatable`, the hard threshold of memory also guards what all pods together may use.

    Raises:
        UsageError: in the kubelet's words.
    """
    results = list(_statements(hard))
    grace = {signal: _grace(signal, text) for signal, text in soft_grace.items()}
    for threshold in _statements(soft):
        if threshold.signal not in grace:
            raise UsageError(
                f"grace period must be specified for the soft eviction threshold {threshold.signal}",
                hint=f"add {threshold.signal} to evictionSoftGracePeriod",
            )
        results.append(replace(threshold, grace=grace[threshold.signal]))
    reclaims = {signal: _reclaim(signal, text) for signal, text in minimum_reclaim.items()}
    results = [replace(one, reclaim=reclaims.get(one.signal)) for one in results]
    if allocatable:
        memory = [one for one in results if one.signal == MEMORY and one.hard]
        results += [replace(one, signal=ALLOCATABLE) for one in memory]
    return results


def with_container_filesystem(
    thresholds: Iterable[Threshold], *, dedicated_imagefs: bool, split: bool
) -> list[Threshold]:
    """The thresholds with those of containerfs replaced by those of the file system that it is part of.

    What a configuration says about containerfs itself never counts.
    """
    kept = [one for one in thresholds if one.signal not in (CONTAINERFS, CONTAINERFS_INODES)]
    on_images = dedicated_imagefs and not split
    twins = {
        IMAGEFS if on_images else NODEFS: CONTAINERFS,
        IMAGEFS_INODES if on_images else NODEFS_INODES: CONTAINERFS_INODES,
    }
    return kept + [replace(one, signal=twins[one.signal]) for one in kept if one.signal in twins]


def met(
    thresholds: Sequence[Threshold], observations: Observations, *, with_reclaim: bool
) -> list[Threshold]:
    """The thresholds that are crossed now; with `with_reclaim`, also those not yet cleared by that much."""

    def crossed(threshold: Threshold) -> bool:
        observed = observations.get(threshold.signal)
        if observed is None:
            return False
        least = threshold.bound.of(observed.capacity).value
        if with_reclaim and threshold.reclaim is not None:
            least += threshold.reclaim.of(observed.capacity).value
        return observed.available.value < least

    return [threshold for threshold in thresholds if crossed(threshold)]


def by_urgency(thresholds: Iterable[Threshold]) -> list[Threshold]:
    """Memory first; otherwise in the order given, where the kubelet leaves it to chance."""
    return sorted(thresholds, key=lambda one: one.signal not in (MEMORY, ALLOCATABLE))


def _statements(given: Mapping[str, str]) -> Iterator[Threshold]:
    for signal, text in given.items():
        _known(signal)
        if text in ("0%", "100%"):
            continue  # the documented way to switch a threshold off
        if text.endswith("%"):
            share = _share(text)
            if share < 0:
                raise _mistake(f"eviction percentage threshold {signal} must be >= 0%: {text}")
            if share > 1:
                raise _mistake(f"eviction percentage threshold {signal} must be <= 100%: {text}")
            yield Threshold(signal, Bound(share=share))
            continue
        quantity = _quantity(signal, text)
        if quantity.value <= 0:
            raise _mistake(f"eviction threshold {signal} must be positive: {quantity}")
        yield Threshold(signal, Bound(quantity))


def _grace(signal: str, text: str) -> float:
    _known(signal)
    if text.startswith("-"):
        raise _mistake(f"invalid eviction grace period specified: {text}, must be a positive value")
    return timing.parse_duration(text)


def _reclaim(signal: str, text: str) -> Bound:
    _known(signal)
    if text.endswith("%"):
        share = _share(text)
        if share <= 0:
            raise _mistake(f"eviction percentage minimum reclaim {signal} must be positive: {text}")
        return Bound(share=share)
    quantity = _quantity(signal, text)
    if quantity.value < 0:
        raise _mistake(f"negative eviction minimum reclaim specified for {signal}")
    return Bound(quantity)


def _known(signal: str) -> None:
    if signal not in RESOURCES:
        raise UsageError(
            f"unsupported eviction signal {signal}", hint=f"signals are {', '.join(sorted(RESOURCES))}"
        )


def _quantity(signal: str, text: str) -> Quantity:
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(f"{signal}: {error}", hint="write 100Mi, 1Gi, 10%, 5000") from error


def _share(text: str) -> float:
    if _PERCENTAGE.fullmatch(text) is None:
        raise UsageError(f"{text!r} is not a percentage", hint="write 10% or 10.5%")
    return _single(_single(float(text.removesuffix("%"))) / 100)


def _single(value: float) -> float:
    """A number as a 32-bit float holds it."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def _mistake(message: str) -> UsageError:
    return UsageError(message, hint="see the kubelet's eviction settings")
