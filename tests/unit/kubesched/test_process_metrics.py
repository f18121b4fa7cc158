"""Metrics of the process and of its leadership."""

from __future__ import annotations

import resource

from prometheus_client import CollectorRegistry

from kubesched import process_metrics
from kubesched.config.gates import FeatureGates
from kubesched.election_metrics import ElectionMetrics


class Elector:
    """What the metrics ask of an elector."""

    slow_paths = 0
    leads = False

    def may_write(self) -> bool:
        return self.leads


def test_the_version_is_what_it_behaves_as():
    registry = CollectorRegistry()
    process_metrics.register(registry, "v1.36.3", FeatureGates())
    labels = {"binary": "1.36.3", "component": "kube", "emulation": "1.36", "min_compat": "1.35"}
    assert registry.get_sample_value("version_info", labels) == 1


def test_limits_and_traffic_are_the_kernels():
    registry = CollectorRegistry()
    process_metrics.register(registry, "v1.36.3", FeatureGates())
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    shown = registry.get_sample_value("process_virtual_memory_max_bytes")
    assert shown == (2.0**64 if limit == resource.RLIM_INFINITY else limit)
    assert registry.get_sample_value("process_network_receive_bytes_total") >= 0
    assert registry.get_sample_value("process_network_transmit_bytes_total") >= 0


def test_a_kernel_that_says_nothing_of_traffic_leaves_it_out(monkeypatch, tmp_path):
    monkeypatch.setattr(process_metrics, "_NETWORK", tmp_path / "nope")
    registry = CollectorRegistry()
    process_metrics.register(registry, "v1.36.3", FeatureGates())
    assert registry.get_sample_value("process_network_receive_bytes_total") is None


def test_who_leads_is_asked_at_the_scrape():
    elector, registry = Elector(), CollectorRegistry()
    registry.register(ElectionMetrics(elector))
    labels = {"name": "kube-scheduler"}
    assert registry.get_sample_value("leader_election_master_status", labels) == 0
    assert registry.get_sample_value("leader_election_slowpath_total", labels) is None
    elector.leads, elector.slow_paths = True, 2
    assert registry.get_sample_value("leader_election_master_status", labels) == 1
    assert registry.get_sample_value("leader_election_slowpath_total", labels) == 2
