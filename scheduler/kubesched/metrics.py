"""Metrics under upstream's names, labels and buckets.

What is counted is counted where it happens; what can be read off the state (queue lengths, cache size) is
read when somebody scrapes. Follows `pkg/scheduler/metrics/metrics.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from kubesched.queue.entry import Entry, Place
from kubesched.schedule_one import Core, Outcome

SCHEDULED = "scheduled"
UNSCHEDULABLE = "unschedulable"
ERROR = "error"


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Bucket bounds as Go's ExponentialBuckets gives them."""
    return tuple(start * factor**index for index in range(count))


_ATTEMPT = exponential(0.001, 2, 15)
_QUEUES = {
    Place.ACTIVE: "active",
    Place.BACKOFF: "backoff",
    Place.UNSCHEDULABLE: "unschedulable",
    Place.GATED: "gated",
}


class Metrics:
    """The metrics of one scheduler process."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library does not type it
        self.registry = registry = registry or CollectorRegistry()
        self.attempts = Counter(
            "scheduler_schedule_attempts_total",
            "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
            "scheduled, while 'error' means an internal scheduler problem.",
            ["result", "profile"],
            registry=registry,
        )
        self.attempt_duration = Histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
            ["result", "profile"],
            buckets=_ATTEMPT,
            registry=registry,
        )
        self.algorithm_duration = Histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Scheduling algorithm latency in seconds",
            buckets=_ATTEMPT,
            registry=registry,
        )
        self.event_handling = Histogram(
            "scheduler_event_handling_duration_seconds",
            "Event handling latency in seconds.",
            ["event"],
            buckets=exponential(0.0001, 2, 12),
            registry=registry,
        )
        self.sli_duration = Histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and "
            "might involve multiple scheduling attempts.",
            ["attempts"],
            buckets=exponential(0.01, 2, 20),
            registry=registry,
        )
        self.pod_attempts = Histogram(
            "scheduler_pod_scheduling_attempts",
            "Number of attempts to successfully schedule a pod.",
            buckets=exponential(1, 2, 5),
            registry=registry,
        )
        self.after_flush = Counter(
            "scheduler_pod_scheduled_after_flush_total",
            "Number of pods that were successfully scheduled after being flushed from unschedulablePods due "
            "to timeout. This metric helps detect potential queueing hint misconfigurations or event "
            "handling issues.",
            registry=registry,
        )
        self.incoming = Counter(
            "scheduler_queue_incoming_pods_total",
            "Number of pods added to scheduling queues by event and queue type.",
            ["queue", "event"],
            registry=registry,
        )
        self.running = Gauge(
            "scheduler_goroutines",
            "Number of running goroutines split by the work they do such as binding.",
            ["operation"],
            registry=registry,
        )
        self.permit_wait = Histogram(
            "scheduler_permit_wait_duration_seconds",
            "Duration of waiting on permit.",
            ["result"],
            buckets=_ATTEMPT,
            registry=registry,
        )
        self.preemption_victims = Histogram(
            "scheduler_preemption_victims",
            "Number of selected preemption victims",
            buckets=exponential(1, 2, 7),
            registry=registry,
        )

    def attempt(self, result: str, profile: str, seconds: float) -> None:
        """Count an attempt with its duration, binding included."""
        self.attempts.labels(result, profile).inc()
        self.attempt_duration.labels(result, profile).observe(seconds)

    def scheduled(self, outcome: Outcome, profile: str, now: float) -> None:
        """Count a pod that was bound; `now` is the queue's clock."""
        entry = outcome.entry
        self.attempt(SCHEDULED, profile, now - (outcome.cycle.now if outcome.cycle else now))
        self.pod_attempts.observe(entry.attempts)
        if entry.initial_attempt_timestamp is not None:
            label = "15+" if entry.attempts >= 15 else str(entry.attempts)
            self.sli_duration.labels(label).observe(now - entry.initial_attempt_timestamp)
        if entry.was_flushed_from_unschedulable:
            self.after_flush.inc()

    def moved(self, entry: Entry, place: Place, event: str) -> None:
        """Count a pod that entered a place of the queue; the queue calls it."""
        queue = _QUEUES.get(Place.GATED if entry.is_gated else place)
        if queue is not None:
            self.incoming.labels(queue, event).inc()

    def handled(self, event: str, seconds: float) -> None:
        """Observe how long it took to take over an event."""
        self.event_handling.labels(event).observe(seconds)

    def watch(self, core: Callable[[], Core | None]) -> None:
        """Read gauges off this scheduler's state whenever somebody scrapes."""
        self.registry.register(_StateCollector(core))


class _StateCollector(Collector):
    """Gauges that are the state's size, asked at the moment of a scrape."""

    def __init__(self, core: Callable[[], Core | None]) -> None:
        self._core = core

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Nothing is read when the collector is registered."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The current figures."""
        core = self._core()
        if core is None:
            return
        pending = core.queue.pending()
        family = GaugeMetricFamily(
            "scheduler_pending_pods", "Number of pending pods, by the queue type.", labels=["queue"]
        )
        for queue in ("active", "backoff", "unschedulable", "gated"):
            family.add_metric([queue], len(getattr(pending, queue)))
        yield family
        cache = GaugeMetricFamily(
            "scheduler_cache_size",
            "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
            labels=["type"],
        )
        cache.add_metric(["nodes"], len(core.cluster.nodes))
        cache.add_metric(["pods"], len(core.cluster.pods.by_uid))
        cache.add_metric(["assumed_pods"], len(core.cluster.assumed))
        yield cache
        rejected = GaugeMetricFamily(
            "scheduler_unschedulable_pods",
            "The number of unschedulable pods broken down by plugin name.",
            labels=["plugin", "profile"],
        )
        for (profile, plugin), count in core.queue.rejections().items():
            rejected.add_metric([plugin, profile], count)
        yield rejected
