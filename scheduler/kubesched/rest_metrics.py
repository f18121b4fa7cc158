"""Metrics of the requests to the API server, under client-go's names.

Follows `component-base/metrics/prometheus/restclient/metrics.go` and where `client-go/rest` observes. Go's
transport cache has no counterpart: a client here is its pool of connections.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry

from kubesched.metric_families import ALPHA, Count, Counter, Distribution, Gauge, Histogram

_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_BYTES = (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
_AGES = (600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000)


class RestMetrics:
    """The families that all clients of one process share."""

    def __init__(self, registry: CollectorRegistry) -> None:
        by_verb = ["verb", "host"]
        self.duration = Histogram(
            registry, "rest_client_request_duration_seconds", ALPHA,
            "Request latency in seconds. Broken down by verb, and host.", by_verb, buckets=_SECONDS,
        )  # fmt: skip
        self.waiting = Histogram(
            registry, "rest_client_rate_limiter_duration_seconds", ALPHA,
            "Client side rate limiter latency in seconds. Broken down by verb, and host.",
            by_verb, buckets=_SECONDS,
        )  # fmt: skip
        self.sent = Histogram(
            registry, "rest_client_request_size_bytes", ALPHA,
            "Request size in bytes. Broken down by verb and host.", by_verb, buckets=_BYTES,
        )  # fmt: skip
        self.received = Histogram(
            registry, "rest_client_response_size_bytes", ALPHA,
            "Response size in bytes. Broken down by verb and host.", by_verb, buckets=_BYTES,
        )  # fmt: skip
        self.results = Counter(
            registry, "rest_client_requests_total", ALPHA,
            "Number of HTTP requests, partitioned by status code, method, and host.",
            ["code", "method", "host"],
        )  # fmt: skip
        self.retries = Counter(
            registry, "rest_client_request_retries_total", ALPHA,
            "Number of request retries, partitioned by status code, verb, and host.",
            ["code", "verb", "host"],
        )  # fmt: skip
        _of_helpers(registry)

    def of(self, server: str) -> HostTraffic:
        """What counts the requests to the server at this address."""
        return HostTraffic(self, urlsplit(server).netloc)


class HostTraffic:
    """Counts one client's requests; keeps the promises of `client.traffic.Traffic`."""

    def __init__(self, metrics: RestMetrics, host: str) -> None:
        self._metrics = metrics
        self._host = host

    def waited(self, verb: str, seconds: float) -> None:
        """Observe how long a request was held back by the client's own limits."""
        self._of(self._metrics.waiting, verb).observe(seconds)

    def answered(self, verb: str, code: str, *, sent: int | None, received: int | None) -> None:
        """Count a try by its code, with the sizes of what went out and came in."""
        self._metrics.results.labels(code, verb, self._host).inc()
        if sent is not None:
            self._of(self._metrics.sent, verb).observe(sent)
        if received is not None:
            self._of(self._metrics.received, verb).observe(received)

    def retried(self, verb: str, code: str) -> None:
        """Count a try that is not the first."""
        self._retry(verb, code).inc()

    def took(self, verb: str, seconds: float) -> None:
        """Observe a whole request, waiting and retries included."""
        self._of(self._metrics.duration, verb).observe(seconds)

    def _of(self, family: Histogram, verb: str) -> Distribution:
        return family.labels(verb, self._host)

    def _retry(self, verb: str, code: str) -> Count:
        return self._metrics.retries.labels(code, verb, self._host)


def _of_helpers(registry: CollectorRegistry) -> None:
    """Helper programs give tokens only, so no certificate of theirs can expire or be replaced."""
    expiry = Gauge(
        registry, "rest_client_exec_plugin_ttl_seconds", ALPHA,
        "Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the auth exec "
        "plugin. The value is in seconds until certificate expiry (negative if already expired). If auth "
        "exec plugins are unused or manage no TLS certificates, the value will be +INF.",
    )  # fmt: skip
    expiry.labels().inc(float("inf"))
    Histogram(
        registry, "rest_client_exec_plugin_certificate_rotation_age", ALPHA,
        "Histogram of the number of seconds the last auth exec plugin client certificate lived before being "
        "rotated. If auth exec plugin client certificates are unused, histogram will contain no data.",
        buckets=_AGES,
    )  # fmt: skip
