"""Metrics about the process itself: what it is, which gates are on, what it uses.

Follows `component-base/metrics/{version,prometheus/feature}` and the Prometheus client's process collector.
"""

from __future__ import annotations

import platform

from prometheus_client import CollectorRegistry, ProcessCollector

from kubesched.config.gates import FeatureGates, known
from kubesched.metric_families import BETA, Gauge


def register(registry: CollectorRegistry, version: str, gates: FeatureGates) -> None:
    """Add the process's own metrics. `version` is that of Kubernetes, such as v1.36.3."""
    ProcessCollector(registry=registry)
    major, minor, _ = version.removeprefix("v").split(".", 2)
    build = Gauge(
        registry,
        "kubernetes_build_info",
        BETA,
        "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree "
        "state, build date, Go version, and compiler from which Kubernetes was built, and platform on which "
        "it is running.",
        [
            "major",
            "minor",
            "git_version",
            "git_commit",
            "git_tree_state",
            "build_date",
            "go_version",
            "compiler",
            "platform",
        ],
    )
    system = f"{platform.system().lower()}/{platform.machine()}"
    build.labels(
        major, minor, version, "", "", "", "", platform.python_implementation().lower(), system
    ).inc()
    features = Gauge(
        registry,
        "kubernetes_feature_enabled",
        BETA,
        "This metric records the data about the stage and enablement of a k8s feature.",
        ["name", "stage"],
    )
    for gate in known().values():
        stage = "" if gate.stage == "GA" else gate.stage
        features.labels(gate.name, stage).inc(float(gates.enabled(gate.name)))
