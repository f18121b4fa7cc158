"""From a command line to a configuration, with kube-scheduler's precedence.

With `--config` the file decides and only `--leader-elect*` overrides it; every other flag that the file has a
field for is ignored, `--kubeconfig` included. Without it those flags override the defaults. Flags that have
no field in the file always count. Follows `Options.ApplyTo` in `cmd/kube-scheduler/app/options/options.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from kubesched.config.defaults import IN_TREE, default_configuration
from kubesched.config.flagset import Flags
from kubesched.config.gates import FeatureGates, parse
from kubesched.config.load import load, revalidate
from kubesched.config.types import ClientConnection, KubeSchedulerConfiguration, LeaderElection

Section = TypeVar("Section", LeaderElection, ClientConnection)

# Flag: field of leaderElection.
_LEADER_ELECTION = {
    "leader-elect": "leader_elect",
    "leader-elect-lease-duration": "lease_duration",
    "leader-elect-renew-deadline": "renew_deadline",
    "leader-elect-retry-period": "retry_period",
    "leader-elect-resource-lock": "resource_lock",
    "leader-elect-resource-name": "resource_name",
    "leader-elect-resource-namespace": "resource_namespace",
}
# Flag: field of clientConnection, when there is no file.
_CLIENT_CONNECTION = {
    "kubeconfig": "kubeconfig",
    "kube-api-content-type": "content_type",
    "kube-api-qps": "qps",
    "kube-api-burst": "burst",
}


class OptionsError(ValueError):
    """A flag has a value that cannot be used."""


@dataclass(frozen=True, slots=True)
class Options:
    """Everything one scheduler process is told."""

    config: KubeSchedulerConfiguration
    gates: FeatureGates
    flags: Flags
    ignored: tuple[str, ...] = ()


def resolve(flags: Flags, plugins: Collection[str] = IN_TREE) -> Options:
    """The options of a command line. Raises OptionsError, ConfigError, FeatureGateError, OSError."""
    gates = parse(flags.items("feature-gates"))
    path = flags.text("config")
    ignored: tuple[str, ...] = ()
    if path:
        config = load(path, gates=gates, plugins=plugins)
        deprecated = {*_CLIENT_CONNECTION, "profiling", "contention-profiling"}
        ignored = tuple(sorted(deprecated & flags.changed))
    else:
        config = _without_file(default_configuration(gates), flags)
    election: LeaderElection = _override(config.leader_election, _LEADER_ELECTION, flags)
    config = msgspec.structs.replace(config, leader_election=election)
    revalidate(config, gates, path or "command line")
    _check(flags)
    return Options(config, gates, flags, ignored)


def _without_file(config: KubeSchedulerConfiguration, flags: Flags) -> KubeSchedulerConfiguration:
    connection: ClientConnection = _override(config.client_connection, _CLIENT_CONNECTION, flags)
    profiling = {
        field: flags.on(name)
        for name, field in {
            "profiling": "enable_profiling",
            "contention-profiling": "enable_contention_profiling",
        }.items()
        if name in flags.changed
    }
    return msgspec.structs.replace(config, client_connection=connection, **profiling)


def _override(section: Section, fields: Mapping[str, str], flags: Flags) -> Section:
    given = {field: flags.values[name] for name, field in fields.items() if name in flags.changed}
    return msgspec.structs.replace(section, **given)


def _check(flags: Flags) -> None:
    port = flags.number("secure-port")
    if not 0 <= port <= 65535:
        raise OptionsError(
            f"--secure-port {port} must be between 0 and 65535, inclusive. 0 for turning off secure port"
        )
    if bool(flags.text("tls-cert-file")) != bool(flags.text("tls-private-key-file")):
        raise OptionsError("--tls-cert-file and --tls-private-key-file go together")
    if flags.text("tls-min-version") not in {"", "VersionTLS12", "VersionTLS13"}:
        raise OptionsError(
            f'--tls-min-version "{flags.text("tls-min-version")}": VersionTLS12 or VersionTLS13'
        )
    for name in ("emulated-version", "min-compatibility-version"):
        for value in flags.items(name):
            if value.rpartition("=")[2] not in {"1.36", "1.35" if name != "emulated-version" else "1.36"}:
                raise OptionsError(f"--{name} {value}: this scheduler behaves as 1.36 and nothing else")
    if flags.text("logging-format") not in {"text", "json"}:
        raise OptionsError(f'unsupported log format: "{flags.text("logging-format")}"')
