"""Metrics about the process itself: what it is, which gates are on, what it uses.

Follows `component-base/metrics/{version,prometheus/feature}`, `component-base/compatibility` and the process
collector of Go's Prometheus client, which has two metrics more than Python's.
"""

from __future__ import annotations

import platform
import resource
from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kubesched.config.gates import FeatureGates, known
from kubesched.metric_families import ALPHA, BETA, Gauge

_NETWORK = Path("/proc/self/net/netstat")
_OLDEST_NEIGHBOUR = "1.35"


def register(registry: CollectorRegistry, version: str, gates: FeatureGates) -> None:
    """Add the process's own metrics. `version` is that of Kubernetes, such as v1.36.3."""
    ProcessCollector(registry=registry)
    registry.register(_MoreOfTheProcess())
    _compatibility(registry, version.removeprefix("v"))
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


def _compatibility(registry: CollectorRegistry, binary: str) -> None:
    info = Gauge(
        registry,
        "version_info",
        ALPHA,
        "Provides the compatibility version info of the component. The component label is the name of the "
        "component, usually kube, but is relevant for aggregated-apiservers.",
        ["binary", "component", "emulation", "min_compat"],
    )
    info.labels(binary, "kube", binary.rpartition(".")[0], _OLDEST_NEIGHBOUR).inc()


class _MoreOfTheProcess(Collector):
    """The limit of its address space, and the bytes of its network namespace."""

    def describe(self) -> Iterable[Metric]:
        """Nothing is read when the collector is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """What the kernel says now; nothing about the network where it does not say."""
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        yield GaugeMetricFamily(
            "process_virtual_memory_max_bytes",
            "Maximum amount of virtual memory available in bytes.",
            value=float(2**64 - 1 if limit == resource.RLIM_INFINITY else limit),
        )
        octets = _octets()
        for name, way, key in (("receive", "received by", "InOctets"), ("transmit", "sent by", "OutOctets")):
            if key in octets:
                yield CounterMetricFamily(
                    f"process_network_{name}_bytes_total",
                    f"Number of bytes {way} the process over the network.",
                    value=octets[key],
                )


def _octets() -> dict[str, int]:
    """The kernel's counters of IP traffic: a line of names and a line of numbers that both begin alike."""
    try:
        lines = [line.split() for line in _NETWORK.read_text().splitlines() if line.startswith("IpExt:")]
    except OSError:
        return {}
    if len(lines) != 2:
        return {}
    names, numbers = lines
    return dict(zip(names[1:], map(int, numbers[1:]), strict=True))
