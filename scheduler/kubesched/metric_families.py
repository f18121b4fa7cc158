"""Counters, gauges and histograms that cost little to write and are put together when somebody scrapes.

One thread writes and reads, so there is no lock; an observation is a bisection and two additions. The
Prometheus client's own classes take ten times as long, which a decision would notice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

ALPHA, BETA, STABLE = "ALPHA", "BETA", "STABLE"

Child = TypeVar("Child", "Count", "Distribution")


class Count:
    """A number that is added to."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1.0) -> None:
        """Add."""
        self.value += amount

    def dec(self, amount: float = 1.0) -> None:
        """Take away."""
        self.value -= amount


class Distribution:
    """How often values fell into which bucket, and their sum."""

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """Upper bound and how many values do not exceed it, as the exposition format has them."""
        below = 0
        rows: list[tuple[str, float]] = []
        for bound, count in zip((*self._bounds, float("inf")), self.counts, strict=True):
            below += count
            rows.append((_go(bound), below))
        return rows


def _go(bound: float) -> str:
    """A bound as Go writes it; clients join series by this text."""
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]  # the library does not type it


class _Family(Collector, Generic[Child]):
    """One metric by name: a child for every combination of label values that was used."""

    def __init__(
        self, registry: CollectorRegistry, name: str, stability: str, help_: str, labels: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.help = f"[{stability}] {help_}"
        self.label_names = tuple(labels)
        self.children: dict[tuple[str, ...], Child] = {}
        if not labels:
            self.children[()] = self.new()
        registry.register(self)

    def new(self) -> Child:
        """A child without any value."""
        raise NotImplementedError

    def labels(self, *values: str) -> Child:
        """The child of these label values."""
        child = self.children.get(values)
        if child is None:
            if len(values) != len(self.label_names):
                raise ValueError(f"{self.name} has the labels {self.label_names}, not {len(values)} of them")
            child = self.children[values] = self.new()
        return child

    def describe(self) -> Iterable[Metric]:
        """Nothing is read when the family is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The family as it is now; a family that was never used is not shown, as in Go's client."""
        if self.children:
            yield self.metric()

    def metric(self) -> Metric:
        """The family in the client library's form."""
        raise NotImplementedError


class Counter(_Family[Count]):
    """A family of counts that only grow."""

    def new(self) -> Count:
        """Zero."""
        return Count()

    def inc(self, amount: float = 1.0) -> None:
        """Add to the only child of a family without labels."""
        self.children[()].inc(amount)

    def metric(self) -> Metric:
        """The family."""
        family = Metric(self.name.removesuffix("_total"), self.help, "counter")
        for values, child in self.children.items():
            family.add_sample(self.name, dict(zip(self.label_names, values, strict=True)), child.value)
        return family


class Gauge(_Family[Count]):
    """A family of numbers that rise and fall."""

    def new(self) -> Count:
        """Zero."""
        return Count()

    def metric(self) -> Metric:
        """The family."""
        family = GaugeMetricFamily(self.name, self.help, labels=self.label_names)
        for values, child in self.children.items():
            family.add_metric(values, child.value)
        return family


class Histogram(_Family[Distribution]):
    """A family of distributions over the same buckets."""

    def __init__(
        self,
        registry: CollectorRegistry,
        name: str,
        stability: str,
        help_: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float],
    ) -> None:
        self._bounds = tuple(buckets)
        super().__init__(registry, name, stability, help_, labels)

    def new(self) -> Distribution:
        """Nothing observed."""
        return Distribution(self._bounds)

    def observe(self, value: float) -> None:
        """Count a value in the only child of a family without labels."""
        self.children[()].observe(value)

    def metric(self) -> Metric:
        """The family."""
        family = HistogramMetricFamily(self.name, self.help, labels=self.label_names)
        for values, child in self.children.items():
            family.add_metric(values, child.buckets(), child.total)
        return family


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Bucket bounds as Go's ExponentialBuckets gives them: multiplied step by step."""
    bounds = []
    for _ in range(count):
        bounds.append(start)
        start *= factor
    return tuple(bounds)
