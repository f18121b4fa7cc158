"""Flags as pflag reads them."""

from __future__ import annotations

import pytest

from kubesched.config.flags import ALL, SECTIONS, usage
from kubesched.config.flagset import FlagError, HelpRequestedError, parse


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--config", "f"], "config", "f"),
        (["--config=f"], "config", "f"),
        (["--config="], "config", ""),
        (["--leader-elect"], "leader-elect", True),
        (["--leader-elect=false"], "leader-elect", False),
        (["--leader_elect=F"], "leader-elect", False),
        (["-v4"], "v", 4),
        (["-v=4"], "v", 4),
        (["-v", "4"], "v", 4),
        (["--v=2", "--v=3"], "v", 3),
        (["--kube-api-qps", "0.5"], "kube-api-qps", 0.5),
        (["--secure-port=0x10"], "secure-port", 16),
        (["--leader-elect-lease-duration=1m30s"], "leader-elect-lease-duration", 90.0),
        (["--bind-address", "::1"], "bind-address", "::1"),
        (["--feature-gates=A=true,B=no", "--feature-gates", "C=1"], "feature-gates", ("A=true,B=no", "C=1")),
        (["--authorization-always-allow-paths=/a,/b"], "authorization-always-allow-paths", ("/a", "/b")),
        (["--disabled-metrics=a", "--disabled-metrics=b"], "disabled-metrics", ("a", "b")),
        (["--allow-metric-labels=m,l=a,b"], "allow-metric-labels", ("m,l=a,b",)),
        (['--allow-metric-labels="m,l=a,b","n,l=c"'], "allow-metric-labels", ("m,l=a,b", "n,l=c")),
        (["--tls-sni-cert-key=a,b:*.x,y"], "tls-sni-cert-key", ("a,b:*.x,y",)),
        (["--tls-curve-preferences=23,29"], "tls-curve-preferences", ("23", "29")),
        (["--log-json-info-buffer-size=2Ki"], "log-json-info-buffer-size", "2Ki"),
        (["--vmodule=a=1,b=2"], "vmodule", ("a=1", "b=2")),
        (["--bind-address="], "bind-address", "0.0.0.0"),
        (["--version"], "version", "true"),
        (["--version=raw"], "version", "raw"),
    ],
)  # fmt: skip
def test_a_flag_is_read(arguments, name, value):
    flags = parse(arguments, ALL)
    assert flags.values[name] == value
    assert flags.changed == {name}


def test_what_is_not_given_has_its_default():
    flags = parse([], ALL)
    assert flags.changed == set()
    assert flags.number("secure-port") == 10259
    assert flags.on("leader-elect")
    assert flags.items("authorization-always-allow-paths") == ("/healthz", "/readyz", "/livez")
    assert flags.text("bind-address") == "0.0.0.0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--foo"], "unknown flag: --foo"),
        (["-x"], "unknown shorthand flag: 'x' in -x"),
        (["--config"], "flag needs an argument: --config"),
        (["-v"], "flag needs an argument: 'v' in -v"),
        (["---x"], "bad flag syntax: ---x"),
        (["-vx"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'),
        (
            ["--leader-elect=maybe"],
            ('invalid argument "maybe" for "--leader-elect" flag: '
            'strconv.ParseBool: parsing "maybe": invalid syntax'),
        ),
        (
            ["--secure-port=x"],
            'invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax',
        ),
        (
            ["--kube-api-qps=x"],
            'invalid argument "x" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "x": invalid syntax',
        ),
        (
            ["--leader-elect-retry-period=5"],
            'invalid argument "5" for "--leader-elect-retry-period" flag: time: missing unit in duration "5"',
        ),
        (["--bind-address=x"], 'invalid argument "x" for "--bind-address" flag: failed to parse IP: "x"'),
        (["a", "b"], '"kubesched" does not take any arguments, got ["a" "b"]'),
        (["--", "--config"], '"kubesched" does not take any arguments, got ["--config"]'),
        (["--leader-elect", "false"], '"kubesched" does not take any arguments, got ["false"]'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_pflags_words(arguments, message):
    with pytest.raises(FlagError) as caught:
        parse(arguments, ALL)
    assert str(caught.value) == message


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--v=3", "--help"]])
def test_help_is_asked_for(arguments):
    with pytest.raises(HelpRequestedError):
        parse(arguments, ALL)


def test_the_help_names_every_flag_with_its_default():
    text = usage()
    for flag in ALL:
        assert f"--{flag.name}" in text
    for section in SECTIONS:
        assert f"{section} flags:" in text
    assert "(default 15s)" in text
    assert '(default "leases")' in text
    assert "(default 10259)" in text
    assert "[no effect: only HTTP/1.1 is served]" in text


# The flags that kube-scheduler 1.36.3 lists in its help.
UPSTREAM = """
config master write-config-to bind-address cert-dir disable-http2-serving http2-max-streams-per-connection
permit-address-sharing permit-port-sharing secure-port tls-cert-file tls-cipher-suites tls-curve-preferences
tls-min-version tls-private-key-file tls-sni-cert-key authentication-kubeconfig authentication-skip-lookup
authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure client-ca-file
requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
requestheader-group-headers requestheader-uid-headers requestheader-username-headers
authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl
authorization-webhook-cache-unauthorized-ttl contention-profiling kube-api-burst kube-api-content-type
kube-api-qps kubeconfig pod-max-in-unschedulable-pods-duration profiling leader-elect
leader-elect-lease-duration leader-elect-renew-deadline leader-elect-resource-lock leader-elect-resource-name
leader-elect-resource-namespace leader-elect-retry-period emulated-version feature-gates
min-compatibility-version allow-metric-labels allow-metric-labels-manifest disabled-metrics
show-hidden-metrics-for-version log-flush-frequency log-json-info-buffer-size log-json-split-stream
log-text-info-buffer-size log-text-split-stream logging-format v vmodule version
"""


def test_the_flags_are_kube_schedulers():
    assert {flag.name for flag in ALL} == set(UPSTREAM.split())


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("allow-metric-labels", "a", "a must be formatted as key=value"),
        ("tls-sni-cert-key", "a", "expected comma separated certificate and key file paths"),
        ("tls-curve-preferences", "x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("kube-api-burst", "99999999999", 'strconv.ParseInt: parsing "99999999999": value out of range'),
        ("vmodule", "x", '"x" does not have the pattern=N format'),
        (
            "log-text-info-buffer-size", "x",
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("version", "v1.35.0", 'version "v1.35.0" must match major/minor/patch of default version "v1.36.3"'),
        ("version", "foo", 'strconv.ParseBool: parsing "foo": invalid syntax'),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_type_is_refused_in_gos_words(name, value, why):
    with pytest.raises(FlagError) as caught:
        parse([f"--{name}={value}"], ALL)
    assert str(caught.value) == f'invalid argument "{value}" for "--{name}" flag: {why}'
