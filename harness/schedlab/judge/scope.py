"""Which rules hold for the pods of which scheduler name, as its configuration says.

Follows the merging of plugin sets in pkg/scheduler/framework/runtime/framework.go: `multiPoint` first, then
what is set at `filter` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.judge.rules import RULES
from schedlab.judge.values import Object

_DEFAULT = "default-scheduler"


@dataclass(frozen=True, slots=True)
class Profile:
    """The plugins whose filters hold, and the resources that nobody counts."""

    plugins: frozenset[str]
    uncounted: frozenset[str]

    def stripped(self, pod: Object) -> Object:
        """The pod without its requests for resources that are not counted."""
        if not self.uncounted:
            return pod
        spec = dict(pod["spec"])
        for kind in ("containers", "initContainers"):
            spec[kind] = [self._container(one) for one in spec.get(kind) or ()]
        return {**pod, "spec": spec}

    def _container(self, container: Object) -> Object:
        resources = container.get("resources") or {}
        asked = resources.get("requests") or {}
        kept = {name: amount for name, amount in asked.items() if not self._ignores(name)}
        return {**container, "resources": {**resources, "requests": kept}}

    def _ignores(self, resource: str) -> bool:
        return resource in self.uncounted or resource.partition("/")[0] + "/" in self.uncounted


def profiles(config: Mapping[str, Any]) -> dict[str, Profile]:
    """The profiles of a KubeSchedulerConfiguration by scheduler name."""
    managed = {
        resource["name"]
        for extender in config.get("extenders") or ()
        for resource in extender.get("managedResources") or ()
        if resource.get("ignoredByScheduler")
    }
    return {
        profile.get("schedulerName") or _DEFAULT: Profile(
            _filters(profile), frozenset(managed | _ignored(profile))
        )
        for profile in config.get("profiles") or [{}]
    }


def _filters(profile: Object) -> frozenset[str]:
    found = set(RULES)
    for point in ("multiPoint", "filter"):
        plugins = (profile.get("plugins") or {}).get(point) or {}
        disabled = {one["name"] for one in plugins.get("disabled") or ()}
        found = set() if "*" in disabled else found - disabled
        found |= {one["name"] for one in plugins.get("enabled") or () if one["name"] in RULES}
    return frozenset(found)


def _ignored(profile: Object) -> set[str]:
    """Extended resources that NodeResourcesFit is told not to look at; a group ends with a slash."""
    for entry in profile.get("pluginConfig") or ():
        if entry["name"] == "NodeResourcesFit":
            args = entry.get("args") or {}
            groups = {f"{group}/" for group in args.get("ignoredResourceGroups") or ()}
            return groups | set(args.get("ignoredResources") or ())
    return set()
