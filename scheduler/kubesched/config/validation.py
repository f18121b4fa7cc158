"""The rules a configuration must keep beyond its types, in upstream's words.

Every rule is a generator of (field, message); `load` adds file, line and column. The rules of one plugin's
arguments are in `validation_args`. Follows `pkg/scheduler/apis/config/validation/validation.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kubesched.config import durations, names
from kubesched.config.defaults import EXTENSION_POINTS
from kubesched.config.gates import FeatureGates
from kubesched.config.problems import suggestion
from kubesched.config.types import (
    ClientConnection,
    Extender,
    KubeSchedulerConfiguration,
    LeaderElection,
    PluginSet,
    Profile,
)
from kubesched.config.validation_args import validate_args

Found = Iterator[tuple[str, str]]

# client-go's leaderelection.JitterFactor: a retry may come this much later than the retry period.
_JITTER = 1.2

# Removed from the API before v1: naming one is refused even where a plugin of that name was registered.
_REMOVED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})


def validate(config: KubeSchedulerConfiguration, gates: FeatureGates) -> Found:
    """Everything wrong with a completed configuration, except names of plugins."""
    yield from _client_connection(config.client_connection)
    yield from _leader_election(config.leader_election)
    if config.parallelism <= 0:
        yield "parallelism", _invalid(config.parallelism, "should be an integer value greater than zero")
    yield from _profiles(config.profiles, gates)
    yield from _percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
    if config.pod_initial_backoff_seconds <= 0:
        yield (
            "podInitialBackoffSeconds",
            _invalid(config.pod_initial_backoff_seconds, "must be greater than 0"),
        )
    if config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds:
        message = "must be greater than or equal to PodInitialBackoffSeconds"
        yield "podMaxBackoffSeconds", _invalid(config.pod_max_backoff_seconds, message)
    yield from _extenders(config.extenders)


def validate_plugin_names(config: KubeSchedulerConfiguration, known: Collection[str]) -> Found:
    """Plugins that a configuration names, as the file gives it, but that do not exist."""
    for index, profile in enumerate(config.profiles):
        at = f"profiles[{index}]"
        for point in ("multi_point", *EXTENSION_POINTS):
            plugin_set: PluginSet = getattr(profile.plugins, point)
            field = f"{at}.plugins.{names.camel(point)}"
            for which, plugins in (("enabled", plugin_set.enabled), ("disabled", plugin_set.disabled)):
                for place, plugin in enumerate(plugins):
                    if plugin.name not in known and (which, plugin.name) != ("disabled", "*"):
                        yield f"{field}.{which}[{place}].name", _unknown_plugin(plugin.name, known)
        for place, item in enumerate(profile.plugin_config):
            if item.name not in known:
                yield f"{at}.pluginConfig[{place}].name", _unknown_plugin(item.name, known)


def _unknown_plugin(name: str, known: Collection[str]) -> str:
    if name in _REMOVED:
        return _invalid(name, 'was invalid in version "kubescheduler.config.k8s.io/v1"')
    return f'unknown plugin "{name}"{suggestion(name, known)}'


def _client_connection(connection: ClientConnection) -> Found:
    if connection.burst < 0:
        yield "clientConnection.burst", _invalid(connection.burst, "must be non-negative")


def _leader_election(election: LeaderElection) -> Found:
    if not election.leader_elect:
        return
    at = "leaderElection"
    for field, value in (
        ("leaseDuration", election.lease_duration),
        ("renewDeadline", election.renew_deadline),
        ("retryPeriod", election.retry_period),
    ):
        if value <= 0:
            yield f"{at}.{field}", _invalid(durations.render(value), "must be greater than zero")
    if election.lease_duration <= election.renew_deadline:
        message = "must be greater than `RenewDeadline`"
        yield f"{at}.leaseDuration", _invalid(durations.render(election.renew_deadline), message)
    if election.renew_deadline <= _JITTER * election.retry_period:
        message = "renewDeadline must be greater than retryPeriod*JitterFactor"
        yield f"{at}.renewDeadline", _invalid(durations.render(election.renew_deadline), message)
    if election.resource_lock != "leases":
        yield f"{at}.resourceLock", _invalid(election.resource_lock, 'resourceLock value must be "leases"')


def _profiles(profiles: tuple[Profile, ...], gates: FeatureGates) -> Found:
    seen: dict[str, int] = {}
    for index, profile in enumerate(profiles):
        at = f"profiles[{index}]"
        if not profile.scheduler_name:
            yield f"{at}.schedulerName", "Required value: more than one profile needs a name each"
        elif profile.scheduler_name in seen:
            yield f"{at}.schedulerName", f'Duplicate value: "{profile.scheduler_name}"'
        seen[profile.scheduler_name] = index
        if profile.percentage_of_nodes_to_score is not None:
            yield from _percentage(f"{at}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        yield from _plugin_config(at, profile, gates)
    yield from _queue_sort(profiles)


def _plugin_config(at: str, profile: Profile, gates: FeatureGates) -> Found:
    seen: set[str] = set()
    for index, item in enumerate(profile.plugin_config):
        field = f"{at}.pluginConfig[{index}]"
        if item.name in seen:
            yield field, f'Duplicate value: "{item.name}"'
        seen.add(item.name)
        yield from validate_args(f"{field}.args", item.args, gates)


def _queue_sort(profiles: tuple[Profile, ...]) -> Found:
    """One queue serves all profiles, so they must sort alike."""
    first = profiles[0]
    queue_sort = first.plugins.queue_sort
    if len(queue_sort.enabled) > 1:
        message = _invalid(len(queue_sort.enabled), "only one queue sort plugin can be enabled")
        yield "profiles[0].plugins.queueSort.enabled", message
    for index, profile in enumerate(profiles[1:], start=1):
        at = f"profiles[{index}]"
        if profile.plugins.queue_sort != queue_sort:
            yield f"{at}.plugins.queueSort", "Invalid value: must be the same for all profiles"
        for plugin in queue_sort.enabled[:1]:
            if profile.args(plugin.name) != first.args(plugin.name):
                yield f"{at}.pluginConfig", "Invalid value: queueSort must be the same for all profiles"


def _extenders(extenders: tuple[Extender, ...]) -> Found:
    managed: set[str] = set()
    for index, extender in enumerate(extenders):
        at = f"extenders[{index}]"
        if extender.prioritize_verb and extender.weight <= 0:
            yield f"{at}.weight", _invalid(extender.weight, "must have a positive weight applied to it")
        for place, resource in enumerate(extender.managed_resources):
            field = f"{at}.managedResources[{place}].name"
            if not names.is_extended_resource(resource.name):
                yield field, _invalid(resource.name, "is an invalid extended resource name")
            if resource.name in managed:
                yield field, _invalid(resource.name, "duplicate extender managed resource name")
            managed.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        yield "extenders", _invalid(found, "only one extender can implement bind")


def _percentage(field: str, value: int) -> Found:
    if not 0 <= value <= 100:
        yield field, _invalid(value, "not in valid range [0-100]")


def _invalid(value: object, message: str) -> str:
    shown = f'"{value}"' if isinstance(value, str) else value
    return f"Invalid value: {shown}: {message}"
