"""Which of file and flag counts."""

from __future__ import annotations

import pytest

from kubesched.config.flags import ALL
from kubesched.config.flagset import parse
from kubesched.config.gates import FeatureGateError
from kubesched.config.options import resolve
from kubesched.config.problems import ConfigError, OptionsError


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "clientConnection: {kubeconfig: from-file, qps: 7}\nleaderElection: {leaderElect: false}\n"
    )
    return str(path)


def options(*arguments: str):
    return resolve(parse(arguments, ALL))


def test_without_a_file_flags_fill_the_client_connection():
    given = options("--kubeconfig=k", "--kube-api-qps=5000", "--kube-api-burst=1", "--profiling=false")
    connection = given.config.client_connection
    assert (connection.kubeconfig, connection.qps, connection.burst) == ("k", 5000.0, 1)
    assert not given.config.enable_profiling
    assert given.config.leader_election.leader_elect, "election is on by default"
    assert given.ignored == ()


def test_with_a_file_those_flags_are_ignored_and_that_can_be_said(file):
    given = options("--config", file, "--kubeconfig=k", "--kube-api-qps=5000")
    assert given.config.client_connection.kubeconfig == "from-file"
    assert given.config.client_connection.qps == 7
    assert given.ignored == ("kube-api-qps", "kubeconfig")


def test_leader_election_flags_override_the_file(file):
    given = options("--config", file, "--leader-elect", "--leader-elect-resource-name=mine")
    assert given.config.leader_election.leader_elect
    assert given.config.leader_election.resource_name == "mine"


def test_flags_that_break_the_election_are_refused(file):
    with pytest.raises(ConfigError, match="leaseDuration"):
        options("--config", file, "--leader-elect", "--leader-elect-lease-duration=1s")


def test_gates_reach_the_configuration():
    given = options("--feature-gates=StorageCapacityScoring=true")
    assert given.gates.enabled("StorageCapacityScoring")
    assert given.config.profiles[0].args("VolumeBinding").shape


def test_an_unknown_gate_is_refused():
    with pytest.raises(FeatureGateError, match="unrecognized feature gate: Foo"):
        options("--feature-gates=Foo=true")


def test_a_file_that_cannot_be_read_is_said():
    with pytest.raises(OSError, match="No such file"):
        options("--config=/nope.yaml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--secure-port=70000"], "--secure-port 70000"),
        (["--tls-cert-file=a"], "go together"),
        (["--tls-min-version=VersionTLS9"], 'unknown tls version "VersionTLS9"'),
        (["--tls-cipher-suites=A"], "Cipher suite A not supported or doesn't exist"),
        (["--logging-format=xml"], 'format: Invalid value: "xml": Unsupported log format'),
        (["--logging-format=json", "--vmodule=a=1"], "vmodule: Forbidden: Only supported for text"),
        (["--log-text-split-stream"], "options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is"),
        (["--log-json-info-buffer-size=1Ki"], "options.json.infoBufferSize: Forbidden"),
        (["--log-flush-frequency=0s"], "flushFrequency: Invalid value"),
        (["--emulated-version=kube=1.33"], "behaves as 1.36"),
        (["--emulated-version=1.37"], r"emulation version 1.37 is not between \[1.33, 1.36.0\]"),
        (["--emulated-version=1.36.1"], "patch version not allowed, got: kube=1.36.1"),
        (["--emulated-version=x"], 'could not parse "x" as version'),
        (["--emulated-version=foo=1.36"], "component not registered: foo"),
        (["--min-compatibility-version=1.20"], r"minCompatibilityVersion version 1.20 is not between \[1.33"),
        (["--authorization-always-allow-paths=a*b"], 'only trailing \\* allowed in "a\\*b"'),
        (["--kube-api-burst=0"], "burst is required to be greater than 0"),
        (["--disabled-metrics=a b"], "must be fully qualified metric names"),
        (["--allow-metric-labels=a=b"], "must have keys with format `metricName,labelName`"),
        (["--allow-metric-labels-manifest=/nope"], "failed to read allow list manifest"),
        (["--show-hidden-metrics-for-version=1.30"], "must be omitted or have the value '1.35'"),
        (["--secure-port=-1", "--tls-cert-file=a"], r"\[--secure-port -1 must .*, missing filename"),
    ],
)
def test_a_flag_with_an_impossible_value_is_refused(arguments, message):
    with pytest.raises(OptionsError, match=message):
        options(*arguments)


def test_versions_that_are_met_are_accepted():
    assert options("--emulated-version=1.36", "--min-compatibility-version=kube=1.35")
