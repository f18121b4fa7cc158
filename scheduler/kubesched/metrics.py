"""Metrics under upstream's names, labels and buckets.

What is counted is counted where it happens; what can be read off the state (queue lengths, cache size) is
read when somebody scrapes. Follows `pkg/scheduler/metrics/metrics.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from kubesched.evaluations import Evaluations
from kubesched.metric_families import (
    ALPHA,
    BETA,
    STABLE,
    Counter,
    Gauge,
    Histogram,
    exponential,
)
from kubesched.queue.entry import Entry, Place
from kubesched.schedule_one import Core, Outcome

SCHEDULED = "scheduled"
UNSCHEDULABLE = "unschedulable"
ERROR = "error"

_ATTEMPT = exponential(0.001, 2, 15)
_POINT = exponential(0.0001, 2, 12)
_PLUGIN = exponential(0.00001, 1.5, 20)
_LONG = exponential(0.01, 2, 20)
_QUEUES = {
    Place.ACTIVE: "active",
    Place.BACKOFF: "backoff",
    Place.UNSCHEDULABLE: "unschedulable",
    Place.GATED: "gated",
}


class Metrics:
    """The metrics of one scheduler process."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry = registry or CollectorRegistry()
        self._of_attempts(registry)
        self._of_pods(registry)
        self._of_the_queue(registry)
        self._of_the_framework(registry)
        self._of_preemption(registry)

    def _of_attempts(self, registry: CollectorRegistry) -> None:
        self.attempts = Counter(
            registry,
            "scheduler_schedule_attempts_total",
            STABLE,
            "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
            "scheduled, while 'error' means an internal scheduler problem.",
            ["result", "profile"],
        )
        self.attempt_duration = Histogram(
            registry,
            "scheduler_scheduling_attempt_duration_seconds",
            STABLE,
            "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
            ["result", "profile"],
            buckets=_ATTEMPT,
        )
        self.algorithm_duration = Histogram(
            registry,
            "scheduler_scheduling_algorithm_duration_seconds",
            ALPHA,
            "Scheduling algorithm latency in seconds",
            buckets=_ATTEMPT,
        )

    def _of_pods(self, registry: CollectorRegistry) -> None:
        self.sli_duration = Histogram(
            registry,
            "scheduler_pod_scheduling_sli_duration_seconds",
            BETA,
            "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and "
            "might involve multiple scheduling attempts.",
            ["attempts"],
            buckets=_LONG,
        )
        self.pod_attempts = Histogram(
            registry,
            "scheduler_pod_scheduling_attempts",
            STABLE,
            "Number of attempts to successfully schedule a pod.",
            buckets=exponential(1, 2, 5),
        )
        self.after_flush = Counter(
            registry,
            "scheduler_pod_scheduled_after_flush_total",
            ALPHA,
            "Number of pods that were successfully scheduled after being flushed from unschedulablePods due "
            "to timeout. This metric helps detect potential queueing hint misconfigurations or event "
            "handling issues.",
        )

    def _of_the_queue(self, registry: CollectorRegistry) -> None:
        self.incoming = Counter(
            registry,
            "scheduler_queue_incoming_pods_total",
            STABLE,
            "Number of pods added to scheduling queues by event and queue type.",
            ["queue", "event"],
        )
        self.event_handling = Histogram(
            registry,
            "scheduler_event_handling_duration_seconds",
            ALPHA,
            "Event handling latency in seconds.",
            ["event"],
            buckets=_POINT,
        )
        self.hint_duration = Histogram(
            registry,
            "scheduler_queueing_hint_execution_duration_seconds",
            ALPHA,
            "Duration for running a queueing hint function of a plugin.",
            ["plugin", "event", "hint"],
            buckets=_PLUGIN,
        )

    def _of_the_framework(self, registry: CollectorRegistry) -> None:
        self.point_duration = Histogram(
            registry,
            "scheduler_framework_extension_point_duration_seconds",
            STABLE,
            "Latency for running all plugins of a specific extension point.",
            ["extension_point", "status", "profile"],
            buckets=_POINT,
        )
        self.plugin_duration = Histogram(
            registry,
            "scheduler_plugin_execution_duration_seconds",
            ALPHA,
            "Duration for running a plugin at a specific extension point.",
            ["plugin", "extension_point", "status"],
            buckets=_PLUGIN,
        )
        self.evaluations = Evaluations(registry)
        self.running = Gauge(
            registry,
            "scheduler_goroutines",
            BETA,
            "Number of running goroutines split by the work they do such as binding.",
            ["operation"],
        )
        self.permit_wait = Histogram(
            registry,
            "scheduler_permit_wait_duration_seconds",
            BETA,
            "Duration of waiting on permit.",
            ["result"],
            buckets=_ATTEMPT,
        )

    def _of_preemption(self, registry: CollectorRegistry) -> None:
        self.preemption_attempts = Counter(
            registry,
            "scheduler_preemption_attempts_total",
            STABLE,
            "Total preemption attempts in the cluster till now",
        )
        self.preemption_victims = Histogram(
            registry,
            "scheduler_preemption_victims",
            STABLE,
            "Number of selected preemption victims",
            buckets=exponential(1, 2, 7),
        )
        self.evictions_duration = Histogram(
            registry,
            "scheduler_preemption_goroutines_duration_seconds",
            ALPHA,
            "Duration in seconds for running goroutines for the preemption.",
            ["result"],
            buckets=_LONG,
        )
        self.evictions = Counter(
            registry,
            "scheduler_preemption_goroutines_execution_total",
            ALPHA,
            "Number of preemption goroutines executed.",
            ["result"],
        )

    def point(self, point: str, status: str, profile: str) -> Callable[[float], None]:
        """What observes an extension point; the framework calls it."""
        return self.point_duration.labels(point, status, profile).observe

    def plugin(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """Observe one plugin; the framework calls it on every tenth attempt."""
        self.plugin_duration.labels(plugin, point, status).observe(seconds)

    def hinted(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """Observe a queueing hint; the queue calls it."""
        self.hint_duration.labels(plugin, event, hint).observe(seconds)

    def evicted(self, seconds: float, *, failed: bool) -> None:
        """Count a preemption whose victims were all asked to leave, or one of them could not be."""
        result = "error" if failed else "success"
        self.evictions.labels(result).inc()
        self.evictions_duration.labels(result).observe(seconds)

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
            "scheduler_pending_pods",
            "[STABLE] Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
            "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
            "unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number of "
            "unschedulable pods that the scheduler never attempted to schedule because they are gated.",
            labels=["queue"],
        )
        for queue in ("active", "backoff", "unschedulable", "gated"):
            family.add_metric([queue], len(getattr(pending, queue)))
        yield family
        cache = GaugeMetricFamily(
            "scheduler_cache_size",
            "[ALPHA] Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
            labels=["type"],
        )
        cache.add_metric(["nodes"], len(core.cluster.nodes))
        cache.add_metric(["pods"], len(core.cluster.pods.by_uid))
        cache.add_metric(["assumed_pods"], len(core.cluster.assumed))
        yield cache
        rejected = GaugeMetricFamily(
            "scheduler_unschedulable_pods",
            "[BETA] The number of unschedulable pods broken down by plugin name. A pod will increment the "
            "gauge for all plugins that caused it to not schedule and so this metric have meaning only when "
            "broken down by plugin.",
            labels=["plugin", "profile"],
        )
        for (profile, plugin), count in core.queue.rejections().items():
            rejected.add_metric([plugin, profile], count)
        yield rejected
        events = GaugeMetricFamily(
            "scheduler_inflight_events",
            "[ALPHA] Number of events currently tracked in the scheduling queue.",
            labels=["event"],
        )
        for event, count in core.queue.in_flight_events().items():
            events.add_metric([event], count)
        yield events
