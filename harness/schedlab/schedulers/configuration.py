"""The configuration that a scheduler under test gets: its declaration's, the test's, a switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.api.objects import Json

DEFAULT_PROFILE = "default-scheduler"
_KEYS = {"profiles": "schedulerName", "pluginConfig": "name", "extenders": "urlPrefix"}

Config = dict[str, Any]


def configuration(
    declared: Mapping[str, Any], patch: Mapping[str, Any], kubeconfig: Path, disabled: Sequence[str] = ()
) -> Config:
    """The configuration as it is written to disk."""
    base: Config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "leaderElection": {"leaderElect": False},
    }
    merged: Config = merge(merge(base, declared), patch)
    for plugin in disabled:
        merged = without(merged, plugin)
    return merged


def merge(base: Json, patch: Json, key: str = "") -> Json:
    """`patch` over `base`: mappings by key, lists of `_KEYS` by name, anything else replaced."""
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        result = dict(base)
        for name, value in patch.items():
            result[name] = merge(base.get(name), value, name)
        return result
    if key in _KEYS and isinstance(base, list) and isinstance(patch, list):
        return _merge_named(base, patch, _KEYS[key])
    return patch


def _merge_named(base: list[Any], patch: list[Any], key: str) -> list[Any]:
    """A profile without a name is the default one, as for kube-scheduler."""
    default = DEFAULT_PROFILE if key == "schedulerName" else None
    result = {item.get(key, default): item for item in base}
    for item in patch:
        name = item.get(key, default)
        result[name] = merge(result.get(name), item)
    return list(result.values())


def without(config: Config, plugin: str) -> Config:
    """The configuration with a plugin disabled at every extension point of every profile."""
    profiles = config.get("profiles") or [{"schedulerName": DEFAULT_PROFILE}]
    return {**config, "profiles": [_profile_without(profile, plugin) for profile in profiles]}


def _profile_without(profile: Config, plugin: str) -> Config:
    plugins: Config = {
        point: {
            **sets,
            "enabled": [entry for entry in sets.get("enabled") or [] if entry.get("name") != plugin],
        }
        for point, sets in (profile.get("plugins") or {}).items()
    }
    everywhere = plugins.get("multiPoint") or {}
    listed = [entry for entry in everywhere.get("disabled") or [] if entry.get("name") != plugin]
    plugins["multiPoint"] = {**everywhere, "disabled": [*listed, {"name": plugin}]}
    return {**profile, "plugins": plugins}


def scheduler_name(config: Mapping[str, Any]) -> str:
    """The name by which pods ask for the first profile."""
    profiles = config.get("profiles") or [{}]
    return str(profiles[0].get("schedulerName") or DEFAULT_PROFILE)
