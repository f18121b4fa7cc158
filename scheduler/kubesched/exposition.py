"""A registry as operators want it shown, with the metrics about metrics.

Applied when somebody scrapes, so that counting costs nothing. Follows `component-base/metrics/options.go` and
the allow-lists of `opts.go`; a label value that is not told apart is counted once per series here, and once
per observation there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from kubesched.config.metrics import MetricOptions
from kubesched.metric_families import ALPHA, BETA, STABLE

_STABILITY = re.compile(r"\[(ALPHA|BETA|STABLE)\]")
_UNEXPECTED = "unexpected"


class Exposition(Collector):
    """A registry as it is shown, followed by the metrics about metrics."""

    def __init__(self, registry: CollectorRegistry, options: MetricOptions) -> None:
        self._registry = registry
        self._options = options
        self._unexpected: set[tuple[str, str, str]] = set()

    def collect(self) -> Iterator[Metric]:
        """Every family that is not disabled, then how many there are, were disabled, or hidden."""
        registered: dict[str, int] = dict.fromkeys((ALPHA, BETA, STABLE), 0)
        for family in self._registry.collect():
            if (stability := _STABILITY.match(family.documentation)) is not None:
                registered[stability[1]] += 1
            yield from self._shown(family)
        count = CounterMetricFamily(
            "registered_metrics_total",
            f"[{BETA}] The count of registered metrics broken by stability level and deprecation version.",
            labels=["stability_level", "deprecated_version"],
        )
        for level, number in registered.items():
            count.add_metric([level, ""], number)
        for family in (count, *self._about_options()):
            yield from self._shown(family)

    def _shown(self, family: Metric) -> Iterator[Metric]:
        names = {family.name, f"{family.name}_total"} if family.type == "counter" else {family.name}
        if names & self._options.disabled:
            return
        for name in names & self._options.allowed.keys():
            family = self._limited(family, name, self._options.allowed[name])
        yield family

    def _limited(self, family: Metric, name: str, lists: Mapping[str, frozenset[str]]) -> Metric:
        """The family with the series added up that are not told apart."""
        sums: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        for sample in family.samples:
            labels = dict(sample.labels)
            for label, values in lists.items():
                if label in labels and labels[label] not in values:
                    self._unexpected.add((name, label, labels[label]))
                    labels[label] = _UNEXPECTED
            key = sample.name, tuple(labels.items())
            sums[key] = sums.get(key, 0.0) + sample.value
        limited = Metric(family.name, family.documentation, family.type)
        limited.samples = [Sample(sample, dict(labels), value) for (sample, labels), value in sums.items()]
        return limited

    def _about_options(self) -> list[Metric]:
        return [
            CounterMetricFamily(
                "disabled_metrics_total",
                f"[{BETA}] The count of disabled metrics.",
                value=len(self._options.disabled),
            ),
            CounterMetricFamily("hidden_metrics_total", f"[{BETA}] The count of hidden metrics.", value=0),
            CounterMetricFamily(
                "cardinality_enforcement_unexpected_categorizations_total",
                f"[{ALPHA}] The count of unexpected categorizations during cardinality enforcement.",
                value=len(self._unexpected),
            ),
        ]
