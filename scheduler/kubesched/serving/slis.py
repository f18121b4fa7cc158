"""What the health checks answered, as the metrics of /metrics/slis.

Follows `component-base/metrics/prometheus/slis` (KEP-3466).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kubesched.serving.health import Health


class Slis(Collector):
    """The two metrics of one process's health."""

    def __init__(self, health: Health) -> None:
        self._health = health

    def describe(self) -> Iterable[Metric]:
        """Nothing is read when the collector is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The latest answer of each check, and how often it gave which."""
        latest = GaugeMetricFamily(
            "kubernetes_healthcheck",
            "[STABLE] This metric records the result of a single healthcheck.",
            labels=["name", "type"],
        )
        for (name, endpoint), passed in self._health.latest.items():
            latest.add_metric([name, endpoint], float(passed))
        yield latest
        total = CounterMetricFamily(
            "kubernetes_healthchecks",
            "[STABLE] This metric records the results of all healthcheck.",
            labels=["name", "type", "status"],
        )
        for key, times in self._health.results.items():
            total.add_metric(key, times)
        yield total
