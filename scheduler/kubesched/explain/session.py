"""The profiles of a configuration, ready to answer about pods on one state after another."""

from __future__ import annotations

from random import Random

import msgspec

from kubesched.api.objects import Pod
from kubesched.config.extended import concerns, extended_profiles
from kubesched.config.gates import FeatureGates
from kubesched.config.types import KubeSchedulerConfiguration, Profile
from kubesched.explain.explanation import Explanation, explain
from kubesched.explain.feed import Feed
from kubesched.framework.handle import Handle
from kubesched.framework.profile import build
from kubesched.framework.runtime import Framework
from kubesched.plugins.registry import registry


class Answerer:
    """Explains pods on one state under a configuration; each profile is built when a pod first needs it.

    Raises ValueError for a configuration that this scheduler cannot follow.
    """

    def __init__(self, config: KubeSchedulerConfiguration, gates: FeatureGates) -> None:
        self._profiles: dict[str, Profile] = {item.scheduler_name: item for item in extended_profiles(config)}
        self._extenders = config.extenders
        self._gates = gates
        self._registry = registry()
        self.feed = self.new_state()

    def new_state(self) -> Feed:
        """Begin with an empty cluster."""
        self._built: dict[str, Framework] = {}
        self.feed = Feed(self._profiles.keys())
        return self.feed

    def answer(self, pod: Pod) -> Explanation:
        """Explain the pod on the state so far; ValueError when no profile has its scheduler's name.

        Extenders are never asked, since asking may change what they hold; the answer names those that the
        scheduler would ask.
        """
        answer = explain(self.feed.cluster, pod, self._framework(pod))
        unasked = [item.url_prefix for item in self._extenders if concerns(item, pod)]
        return msgspec.structs.replace(answer, unasked=unasked) if unasked else answer

    def _framework(self, pod: Pod) -> Framework:
        name = pod.scheduler_name
        built = self._built.get(name)
        if built is None:
            profile = self._profiles.get(name)
            if profile is None:
                known = ", ".join(sorted(self._profiles))
                raise ValueError(f"pod {pod.key} asks for scheduler {name!r}; the profiles are {known}")
            handle = Handle(self.feed.cluster, self.feed.clock, self._gates, Random(0))  # noqa: S311 - ties only
            built = self._built[name] = build(profile, self._registry, handle)
        return built
