"""What becomes of a configuration when a scheduler is built from it.

Resources that extenders alone manage are not Fit's business, extenders get their timeout, and only arguments
that a plugin takes remain. Follows upstream `buildExtenders` (pkg/scheduler/scheduler.go, 1.36) and the
captured profile of `NewFramework`.
"""

from __future__ import annotations

import msgspec

from kubesched.api.objects import Pod
from kubesched.config.args import NodeResourcesFitArgs, Seconds
from kubesched.config.types import Extender, KubeSchedulerConfiguration, PluginConfig, Profile, RawArgs

# Seconds that a call of an extender may take where the configuration does not say.
DEFAULT_TIMEOUT = 5.0


def as_run(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """The configuration as `--write-config-to` writes it and `/configz` serves it. Raises ValueError."""
    return msgspec.structs.replace(
        config,
        extenders=tuple(
            msgspec.structs.replace(extender, http_timeout=extender.http_timeout or Seconds(DEFAULT_TIMEOUT))
            for extender in config.extenders
        ),
        profiles=tuple(map(_taken, extended_profiles(config))),
    )


def _taken(profile: Profile) -> Profile:
    """The profile with the arguments of the plugins that it enables, by name."""
    plugins = profile.plugins
    enabled = {
        plugin.name for point in plugins.__struct_fields__ for plugin in getattr(plugins, point).enabled
    }
    taken = [item for item in profile.plugin_config if item.name in enabled and item.args is not None]
    return msgspec.structs.replace(profile, plugin_config=tuple(sorted(taken, key=lambda item: item.name)))


def ordered_extenders(config: KubeSchedulerConfiguration) -> list[Extender]:
    """The extenders in the order in which they are asked: those that may fail come last."""
    return sorted(config.extenders, key=lambda extender: extender.ignorable)


def concerns(extender: Extender, pod: Pod) -> bool:
    """Whether a container asks for, or is limited in, what the extender manages: everything by default."""
    managed = {resource.name for resource in extender.managed_resources}
    return not managed or any(
        not managed.isdisjoint({*container.resources.requests, *container.resources.limits})
        for container in (*pod.spec.containers, *pod.spec.init_containers)
    )


def extended_profiles(config: KubeSchedulerConfiguration) -> tuple[Profile, ...]:
    """The profiles, with what extenders manage alone in place of Fit's own ignored resources.

    Raises ValueError for a profile that has no arguments for NodeResourcesFit, as upstream does.
    """
    ignored = tuple(
        resource.name
        for extender in config.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    return tuple(_ignoring(profile, ignored) for profile in config.profiles) if ignored else config.profiles


def _ignoring(profile: Profile, ignored: tuple[str, ...]) -> Profile:
    if not isinstance(profile.args("NodeResourcesFit"), NodeResourcesFitArgs):
        raise ValueError(  # noqa: TRY004 - what is wrong is the configuration
            "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"
        )
    return msgspec.structs.replace(
        profile, plugin_config=tuple(_without(item, ignored) for item in profile.plugin_config)
    )


def _without(item: PluginConfig, ignored: tuple[str, ...]) -> PluginConfig:
    if not isinstance(item.args, NodeResourcesFitArgs):
        return item
    args = msgspec.structs.replace(item.args, ignored_resources=ignored)
    return msgspec.structs.replace(item, args=RawArgs(args))
