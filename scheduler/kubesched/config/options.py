"""From a command line to a configuration, with kube-scheduler's precedence.

With `--config` the file decides and only `--leader-elect*` overrides it; every other flag that the file has a
field for is ignored, `--kubeconfig` included. Without it those flags override the defaults. Flags that have
no field in the file always count. Follows `Options.ApplyTo` in `cmd/kube-scheduler/app/options/options.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from kubesched.config.args import ARGS, ArgsType
from kubesched.config.defaults import IN_TREE, default_configuration
from kubesched.config.flag_checks import check
from kubesched.config.flagset import Flags
from kubesched.config.gates import FeatureGates, parse
from kubesched.config.load import load, revalidate
from kubesched.config.metrics import MetricOptions, metric_options
from kubesched.config.tls import TlsOptions, tls_options
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


@dataclass(frozen=True, slots=True)
class Options:
    """Everything one scheduler process is told."""

    config: KubeSchedulerConfiguration
    gates: FeatureGates
    flags: Flags
    ignored: tuple[str, ...] = ()
    tls: TlsOptions = field(default_factory=TlsOptions)
    metrics: MetricOptions = field(default_factory=MetricOptions)


def resolve(flags: Flags, plugins: Collection[str] = IN_TREE, args_type: ArgsType = ARGS.get) -> Options:
    """The options of a command line; `plugins` and `args_type` as for `load`.

    Raises OptionsError, ConfigError, FeatureGateError, OSError.
    """
    gates = parse(flags.items("feature-gates"))
    path = flags.text("config")
    ignored: tuple[str, ...] = ()
    if path:
        config = load(path, gates=gates, plugins=plugins, args_type=args_type)
        deprecated = {*_CLIENT_CONNECTION, "profiling", "contention-profiling"}
        ignored = tuple(sorted(deprecated & flags.changed))
    else:
        config = _without_file(default_configuration(gates), flags)
    election: LeaderElection = _override(config.leader_election, _LEADER_ELECTION, flags)
    config = msgspec.structs.replace(config, leader_election=election)
    revalidate(config, gates, path or "command line")
    check(flags, gates, config.client_connection)
    return Options(config, gates, flags, ignored, tls_options(flags), metric_options(flags))


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
