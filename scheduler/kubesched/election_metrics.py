"""Whether this process leads, as a metric that is asked for when somebody scrapes.

Follows `component-base/metrics/prometheus/clientgo/leaderelection`; "leads" means here that writing is safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kubesched.leaderelection import LeaderElector
from kubesched.metric_families import ALPHA

_NAME = "kube-scheduler"
_GROUPED = "'name' is the string used to identify the lease. Please make sure to group by name."


class ElectionMetrics(Collector):
    """The two metrics of one elector."""

    def __init__(self, elector: LeaderElector) -> None:
        self._elector = elector

    def describe(self) -> Iterable[Metric]:
        """Nothing is read when the collector is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Who leads now, and how often renewing had to read the lease first, once it had to."""
        status = GaugeMetricFamily(
            "leader_election_master_status",
            f"[{ALPHA}] Gauge of if the reporting system is master of the relevant lease, 0 indicates "
            f"backup, 1 indicates master. {_GROUPED}",
            labels=["name"],
        )
        status.add_metric([_NAME], float(self._elector.may_write()))
        yield status
        if self._elector.slow_paths:
            slow = CounterMetricFamily(
                "leader_election_slowpath_total",
                f"[{ALPHA}] Total number of slow path exercised in renewing leader leases. {_GROUPED}",
                labels=["name"],
            )
            slow.add_metric([_NAME], self._elector.slow_paths)
            yield slow
