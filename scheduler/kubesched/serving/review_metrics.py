"""Metrics of who asked and what was decided, under the names of the API server's library.

User names are told apart only where upstream does, so that no name of a person becomes a label. Follows
`apiserver/pkg/endpoints/filters/metrics.go`, `pkg/authentication/token/cache/stats.go`,
`request/x509/x509.go`, and the delegated reviews' `authenticatorfactory` and `authorizerfactory`.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from kubesched.metric_families import ALPHA, Counter, Gauge, Histogram, exponential

_USUAL = exponential(0.001, 2, 15)
_REVIEW = (0.25, 0.5, 0.7, 1.0, 1.5, 3.0, 5.0, 10.0)
_DEFAULT = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_HOUR, _DAY = 3600.0, 86400.0
_LIFETIMES = (
    0.0, _HOUR / 2, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY, 30 * _DAY,
    90 * _DAY, 180 * _DAY, 360 * _DAY,
)  # fmt: skip
_KNOWN = {"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"}
_CODE = "Number of HTTP requests partitioned by status code."
_LATENCY = "Request latency in seconds. Broken down by status code."


class ReviewMetrics:
    """The families of one secure port. Durations are in seconds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.users = Counter(
            registry, "authenticated_user_requests", ALPHA,
            "Counter of authenticated requests broken out by username.", ["username"],
        )  # fmt: skip
        self.attempts = Counter(
            registry, "authentication_attempts", ALPHA, "Counter of authenticated attempts.", ["result"]
        )
        self.authentication = Histogram(
            registry, "authentication_duration_seconds", ALPHA,
            "Authentication duration in seconds broken out by result.", ["result"], buckets=_USUAL,
        )  # fmt: skip
        self.decisions = Counter(
            registry, "authorization_attempts_total", ALPHA,
            "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', "
            "'no-opinion' or 'error'.", ["result"],
        )  # fmt: skip
        self.authorization = Histogram(
            registry, "authorization_duration_seconds", ALPHA,
            "Authorization duration in seconds broken out by result.", ["result"], buckets=_USUAL,
        )  # fmt: skip
        self.lifetime = Histogram(
            registry, "apiserver_client_certificate_expiration_seconds", ALPHA,
            "Distribution of the remaining lifetime on the certificate used to authenticate a request.",
            buckets=_LIFETIMES,
        )  # fmt: skip
        self._of_tokens(registry)
        self.token_reviews = DelegatedMetrics(registry, "apiserver_delegated_authn")
        self.access_reviews = DelegatedMetrics(registry, "apiserver_delegated_authz")

    def _of_tokens(self, registry: CollectorRegistry) -> None:
        prefix = "authentication_token_cache"
        self.token_requests = Counter(registry, f"{prefix}_request_total", ALPHA, "", ["status"])
        self.token_duration = Histogram(
            registry, f"{prefix}_request_duration_seconds", ALPHA, "", ["status"], buckets=_DEFAULT
        )
        self.token_fetches = Counter(registry, f"{prefix}_fetch_total", ALPHA, "", ["status"])
        self.token_fetching = Gauge(registry, f"{prefix}_active_fetch_count", ALPHA, "", ["status"])

    def authenticated(self, name: str | None, seconds: float) -> None:
        """Count a request whose user has this name; None when its credentials could not be confirmed."""
        result = "error" if name is None else "success"
        if name is not None:
            self.users.labels(_compressed(name)).inc()
        self.attempts.labels(result).inc()
        self.authentication.labels(result).observe(seconds)

    def authorized(self, result: str, seconds: float) -> None:
        """Count a decision: `allowed`, `denied`, `no-opinion` or `error`."""
        self.decisions.labels(result).inc()
        self.authorization.labels(result).observe(seconds)

    def token_looked_up(self, seconds: float, *, hit: bool) -> None:
        """Count a token that was remembered or had to be reviewed."""
        status = "hit" if hit else "miss"
        self.token_requests.labels(status).inc()
        self.token_duration.labels(status).observe(seconds)


class DelegatedMetrics:
    """The two families about one kind of review that the API server is asked for."""

    def __init__(self, registry: CollectorRegistry, prefix: str) -> None:
        self._total = Counter(registry, f"{prefix}_request_total", ALPHA, _CODE, ["code"])
        self._duration = Histogram(
            registry, f"{prefix}_request_duration_seconds", ALPHA, _LATENCY, ["code"], buckets=_REVIEW
        )

    def asked(self, code: str, seconds: float) -> None:
        """Count a review by the code of its answer, "<error>" without one."""
        self._total.labels(code).inc()
        self._duration.labels(code).observe(seconds)


def _compressed(name: str) -> str:
    if name in _KNOWN:
        return name
    return "email_id" if "@" in name else "other"
