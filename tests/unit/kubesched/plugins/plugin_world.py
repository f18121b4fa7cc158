"""One plugin on one state: what it says of each node."""

from __future__ import annotations

from random import Random

from kubesched.clock import VirtualClock
from kubesched.config.gates import FeatureGates
from kubesched.framework import Cycle, Handle, Hint, Status
from kubesched.framework.handle import Factory
from kubesched.framework.registration import register
from kubesched.framework.runtime import Framework
from kubesched.framework.status import Code
from kubesched.framework.weighted import Weighted
from kubesched.state import View
from kubesched.state.events import ActionType, ClusterEvent, Resource, match
from kubesched.testing.builders import cluster


class World:
    """A plugin, a cluster, and questions to the first about the second."""

    def __init__(self, factory: Factory, *objects, args=None, gates=None) -> None:
        self.cluster = cluster(*objects)
        self.handle = Handle(self.cluster, VirtualClock(), gates or FeatureGates(), Random(0))
        self.plugin = register(factory(args, self.handle))

    def cycle(self, pod, *, exhaustive=False) -> Cycle:
        points = self.plugin.points
        framework = Framework(
            VirtualClock(),
            pre_filters=[points["pre_filter"]] if "pre_filter" in points else [],
            filters=[points["filter"]] if "filter" in points else [],
            pre_scores=[points["pre_score"]] if "pre_score" in points else [],
            scores=[Weighted(points["score"], 1, points.get("normalize"))] if "score" in points else [],
        )
        return Cycle(pod, self.cluster, framework=framework, exhaustive=exhaustive)

    def view(self) -> View:
        self.cluster.nodes.snapshot()
        return View(self.cluster, self.cluster.nodes.order)

    def pre_filter(self, pod):
        return self.plugin.points["pre_filter"].pre_filter(self.cycle(pod))

    def rejections(self, pod, change=lambda view: view) -> dict[str, Status]:
        """What Filter says of the nodes it rejects; `change` makes a what-if of the view."""
        cycle = self.cycle(pod)
        if "pre_filter" in self.plugin.points:
            answer = self.plugin.points["pre_filter"].pre_filter(cycle)
            if isinstance(answer, Status):
                if answer.code is Code.Skip:
                    return {}
                return dict.fromkeys(self._names(), answer)
        view = change(self.view())
        codes = self.plugin.points["filter"].filter(cycle, view)
        if codes is None:
            return {}
        decode = self.plugin.points["filter"].status
        pairs = zip(self._names(), codes.tolist(), strict=True)
        return {name: decode(cycle, code) for name, code in pairs if code}

    def passing(self, pod) -> list[str]:
        rejected = self.rejections(pod)
        return [name for name in self._names() if name not in rejected]

    def scores(self, pod, only=None) -> dict[str, int] | None:
        """Normalised scores; None when the plugin skips the pod."""
        cycle, points = self.cycle(pod), self.plugin.points
        view = self.view()
        if only is not None:
            view = view.take([k for k, name in enumerate(self._names()) if name in only])
        if "pre_filter" in points:
            points["pre_filter"].pre_filter(cycle)
        if "pre_score" in points:
            status = points["pre_score"].pre_score(cycle, view)
            if status is not None:
                assert status.code is Code.Skip, status
                return None
        raw = points["score"].score(cycle, view)
        if "normalize" in points:
            raw = points["normalize"].normalize(cycle, view, raw)
        names = [self.cluster.nodes.names[row] for row in view.rows]
        return dict(zip(names, raw.tolist(), strict=True))

    def hint(self, pod, resource: Resource, action: ActionType, old=None, new=None) -> Hint:
        """The strongest hint among the registrations that the event matches; Skip when there is none."""
        event = ClusterEvent(resource, action, old=old, new=new)
        hints = [
            registered.hint(pod, event) if registered.hint else Hint.Queue
            for registered in self.plugin.points["events_to_register"].events_to_register()
            if match(registered.event, event)
        ]
        return Hint.Queue if Hint.Queue in hints else Hint.Skip

    def _names(self) -> list[str]:
        return [self.cluster.nodes.names[row] for row in self.cluster.nodes.order]


def reasons(rejections: dict[str, Status]) -> dict[str, tuple[str, ...]]:
    return {name: status.reasons for name, status in rejections.items()}
