"""How often each plugin was asked, worked out from the attempts when somebody scrapes.

Upstream counts a call of Filter and Score per node. Here one call answers for all nodes, and answers are
remembered for like pods; so what is counted are the nodes that a plugin's answer was needed for. An attempt
costs one look-up; dry runs of preemption are not counted. Follows `instrumented_plugins.go` (1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from kubesched.framework.runtime import Framework
from kubesched.metric_families import BETA
from kubesched.schedule_one import Outcome


@dataclass(slots=True)
class _Sum:
    """Attempts that skipped the same plugins; `rejected` are nodes by the index of the filter."""

    framework: Framework
    attempts: int = 0
    filtered: int = 0
    scored: int = 0
    scored_attempts: int = 0
    rejected: Counter[int] = field(default_factory=Counter)


class Evaluations(Collector):
    """Counts attempts as they end, and gives the metric `scheduler_plugin_evaluation_total`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._sums: dict[tuple[str, frozenset[str], frozenset[str]], _Sum] = {}
        registry.register(self)

    def count(self, outcome: Outcome) -> None:
        """Count one attempt."""
        cycle, diagnosis = outcome.cycle, outcome.diagnosis
        if cycle is None or diagnosis is None:
            return
        key = cycle.framework.profile, cycle.skip_filter, cycle.skip_score
        total = self._sums.get(key)
        if total is None:
            total = self._sums[key] = _Sum(cycle.framework)
        nodes, feasible = len(diagnosis.plugin), len(diagnosis.feasible)
        total.attempts += 1
        total.filtered += nodes
        if feasible > 1:
            total.scored += feasible
            total.scored_attempts += 1
        if feasible < nodes:
            indexes = diagnosis.plugin[diagnosis.plugin >= 0]
            for index, times in enumerate(np.bincount(indexes).tolist()):
                total.rejected[index] += times

    def describe(self) -> Iterable[CounterMetricFamily]:
        """Nothing is read when the collector is registered."""
        return ()

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The metric as it is now."""
        counts: Counter[tuple[str, str, str]] = Counter()
        for (profile, skip_filter, skip_score), total in self._sums.items():
            for plugin, point, times in _counted(total, skip_filter, skip_score):
                counts[plugin, point, profile] += times
        family = CounterMetricFamily(
            "scheduler_plugin_evaluation_total",
            f"[{BETA}] Number of attempts to schedule pods by each plugin and the extension point (available "
            "only in PreFilter, Filter, PreScore, and Score).",
            labels=["plugin", "extension_point", "profile"],
        )
        for labels, times in counts.items():
            family.add_metric(labels, times)
        if counts:
            yield family


def _counted(
    total: _Sum, skip_filter: frozenset[str], skip_score: frozenset[str]
) -> Iterator[tuple[str, str, int]]:
    framework = total.framework
    for name in (plugin.name for plugin in framework.pre_filters):
        yield name, "PreFilter", total.attempts
    left = total.filtered
    for index, name in enumerate(plugin.name for plugin in framework.filters):
        yield name, "Filter", 0 if name in skip_filter else left
        left -= total.rejected[index]
    for name in (plugin.name for plugin in framework.pre_scores):
        yield name, "PreScore", total.scored_attempts
    for name in (item.plugin.name for item in framework.scores):
        yield name, "Score", 0 if name in skip_score else total.scored
