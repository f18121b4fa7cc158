"""What operators may change about the metrics that are shown."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from kubesched import exposition_text
from kubesched.config.flags import ALL
from kubesched.config.flagset import parse
from kubesched.config.metrics import metric_options
from kubesched.exposition import Exposition
from kubesched.metric_families import ALPHA, STABLE, Counter, Gauge, Histogram


@pytest.fixture
def registry() -> CollectorRegistry:
    made = CollectorRegistry()
    counter = Counter(made, "c_total", STABLE, "Help", ["a", "b"])
    for first, second in (("x", "1"), ("y", "1"), ("z", "2")):
        counter.labels(first, second).inc()
    Histogram(made, "h", ALPHA, "Help", ["a"], buckets=(1.0,)).labels("x").observe(2)
    return made


def shown(registry: CollectorRegistry, *flags: str) -> dict[str, float]:
    """The samples by their name and labels, as they are written."""
    text = exposition_text.write(Exposition(registry, metric_options(parse(flags, ALL))).collect()).decode()
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def test_all_is_shown_and_counted_by_stability(registry):
    found = shown(registry)
    assert found['c_total{a="x",b="1"}'] == 1
    assert found['registered_metrics_total{deprecated_version="",stability_level="STABLE"}'] == 1
    assert found["disabled_metrics_total"] == 0
    assert found["hidden_metrics_total"] == 0


def test_a_disabled_metric_is_not_shown(registry):
    """By its full name, whatever its type."""
    found = shown(registry, "--disabled-metrics=c_total,h")
    assert not [name for name in found if name.startswith(("c_", "h_"))]
    assert found["disabled_metrics_total"] == 2


def test_label_values_that_are_not_allowed_are_one_series(registry):
    found = shown(registry, "--allow-metric-labels=c_total,a=x")
    assert found['c_total{a="x",b="1"}'] == 1
    assert found['c_total{a="unexpected",b="1"}'] == 1
    assert found['c_total{a="unexpected",b="2"}'] == 1
    assert found["cardinality_enforcement_unexpected_categorizations_total"] == 2
    assert found['h_sum{a="x"}'] == 2, "other metrics keep theirs"


def test_series_that_become_one_are_added_up(registry):
    found = shown(registry, '--allow-metric-labels="c_total,a=x","c_total,b=3"')
    assert found['c_total{a="unexpected",b="unexpected"}'] == 2


def test_the_lists_may_come_from_a_file(registry, tmp_path):
    path = tmp_path / "lists.yaml"
    path.write_text('"c_total,a": "y,z"\n')
    found = shown(registry, f"--allow-metric-labels-manifest={path}")
    assert found['c_total{a="unexpected",b="1"}'] == 1
    assert found['c_total{a="z",b="2"}'] == 1


def test_text_is_the_client_librarys_except_for_counters_without_total():
    registry = CollectorRegistry()
    Gauge(registry, "g", ALPHA, 'He said "\\\n"', ["a", "b"]).labels('x"\\\n', "é").inc(1.5)
    Gauge(registry, "none", ALPHA, "Help").labels().inc(float("inf"))
    Counter(registry, "n_total", ALPHA, "Help").inc(2**60)
    assert exposition_text.write(registry.collect()) == generate_latest(registry)
    other = CollectorRegistry()
    Counter(other, "attempts", ALPHA, "Help").inc()
    assert exposition_text.write(other.collect()) == (
        b"# HELP attempts [ALPHA] Help\n# TYPE attempts counter\nattempts 1.0\n"
    )
