"""Metrics that are cheap to write show what the Prometheus client would show."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client import Histogram as Reference
from prometheus_client.exposition import generate_latest

from kubesched.metric_families import ALPHA, STABLE, Counter, Gauge, Histogram, exponential


def test_a_histogram_reads_as_the_clients_own():
    """Bucket bounds are inclusive, counts add up, and the sum is kept."""
    registry, reference = CollectorRegistry(), CollectorRegistry()
    buckets = exponential(0.001, 2, 4)
    ours = Histogram(registry, "h", STABLE, "Help", ["a"], buckets=buckets)
    theirs = Reference("h", "[STABLE] Help", ["a"], buckets=buckets, registry=reference)
    for value in (0.0, 0.001, 0.0011, 0.008, 5.0):
        ours.labels("x").observe(value)
        theirs.labels("x").observe(value)
    wanted = [line for line in generate_latest(reference).decode().splitlines() if "_created" not in line]
    assert generate_latest(registry).decode().splitlines() == wanted


def test_counters_and_gauges_keep_a_number_per_label_values():
    registry = CollectorRegistry()
    counter = Counter(registry, "c_total", ALPHA, "Help", ["a", "b"])
    gauge = Gauge(registry, "g", ALPHA, "Help", ["a"])
    counter.labels("x", "y").inc()
    counter.labels("x", "y").inc(2)
    gauge.labels("x").inc()
    gauge.labels("x").dec(3)
    assert registry.get_sample_value("c_total", {"a": "x", "b": "y"}) == 3
    assert registry.get_sample_value("g", {"a": "x"}) == -2


def test_a_family_that_was_never_used_is_not_shown_unless_it_has_no_labels():
    registry = CollectorRegistry()
    Counter(registry, "unused_total", ALPHA, "Help", ["a"])
    Counter(registry, "zero_total", ALPHA, "Help")
    assert "unused" not in generate_latest(registry).decode()
    assert registry.get_sample_value("zero_total") == 0


def test_a_wrong_number_of_label_values_is_an_error():
    family = Gauge(CollectorRegistry(), "g", ALPHA, "Help", ["a"])
    with pytest.raises(ValueError, match="g has the labels"):
        family.labels("x", "y")


def test_bounds_grow_step_by_step():
    assert exponential(1, 2, 5) == (1, 2, 4, 8, 16)
