"""The configuration file's types, `kubescheduler.config.k8s.io/v1`, with upstream's defaults.

A field holds the value that will be used: defaults are the structs' defaults, and `complete` fills the few
that depend on other fields. Durations are seconds. Field names are upstream's in Python's casing.
Follows `k8s.io/kube-scheduler/config/v1/types.go` and `component-base/config/v1alpha1/types.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NewType, cast

import msgspec

from kubesched.config.args import ArgsType, PluginArgs, Seconds

API_VERSION = "kubescheduler.config.k8s.io/v1"
DEFAULT_SCHEDULER_NAME = "default-scheduler"
DEFAULT_PORT = 10259

# Decoded as the args type that the sibling field `name` selects.
RawArgs = NewType("RawArgs", object)


class LeaderElection(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How replicas agree on the one that schedules."""

    leader_elect: bool = True
    lease_duration: Seconds = Seconds(15.0)
    renew_deadline: Seconds = Seconds(10.0)
    retry_period: Seconds = Seconds(2.0)
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


class ClientConnection(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How to reach the API server, and the client's own rate limit (queries per second, and burst)."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = 50.0
    burst: int = 100


class Plugin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A plugin by name; the weight counts for scoring only."""

    name: str
    weight: int = 0


class PluginSet(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an extension point enables beyond, and disables of, the defaults; `*` disables all."""

    omit: ClassVar[frozenset[str]] = frozenset({"enabled", "disabled"})

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The plugin sets of a profile, one per extension point; `multi_point` is all points at once."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()


class PluginConfig(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Arguments of one plugin: the struct that the plugin asks for, or a plain mapping."""

    name: str
    args: RawArgs | None = None

    @staticmethod
    def refine(field: str, siblings: Mapping[str, Any], args_type: ArgsType) -> type | None:
        """The type of `args` follows from the plugin's name."""
        return args_type(siblings.get("name", "")) if field == "args" else None


class Profile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What pods that name this scheduler get: which plugins, with which weights and arguments."""

    omit: ClassVar[frozenset[str]] = frozenset({"pluginConfig"})

    scheduler_name: str = ""
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()

    def args(self, name: str) -> PluginArgs | Mapping[str, Any] | None:
        """The arguments configured for a plugin; None when it has none."""
        found = next((item.args for item in self.plugin_config if item.name == name), None)
        return cast("PluginArgs | Mapping[str, Any] | None", found)


class ExtenderManagedResource(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An extended resource whose pods concern an extender."""

    omit: ClassVar[frozenset[str]] = frozenset({"ignoredByScheduler"})

    name: str
    ignored_by_scheduler: bool = False


class ExtenderTLS(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How to trust an extender, and how to be trusted by it. Data wins over files."""

    omit: ClassVar[frozenset[str]] = frozenset(
        {"insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"}
    )

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = msgspec.field(default="", name="caFile")
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = msgspec.field(default=b"", name="caData")


class Extender(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An HTTP service that filters, ranks, preempts or binds in the scheduler's place."""

    omit: ClassVar[frozenset[str]] = frozenset(
        {
            "filterVerb", "preemptVerb", "prioritizeVerb", "weight", "bindVerb", "enableHTTPS",
            "nodeCacheCapable", "managedResources", "ignorable",
        }
    )  # fmt: skip

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLS | None = None
    http_timeout: Seconds = msgspec.field(default=Seconds(0.0), name="httpTimeout")
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class KubeSchedulerConfiguration(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole configuration of one scheduler process."""

    kind: ClassVar[str] = "KubeSchedulerConfiguration"
    omit: ClassVar[frozenset[str]] = frozenset({"extenders", "delayCacheUntilActive"})

    parallelism: int = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
