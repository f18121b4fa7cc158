"""One plugin alone on a small cluster: what it says of pods, in words that tests can compare.

Nothing is simulated: PreFilter, Filter, PreScore, Score and normalisation run as in the scheduler, and hints
are looked up as the queue looks them up. Only the other plugins are left out.
"""

from __future__ import annotations

from random import Random

from kubesched.api.objects import Object, Pod
from kubesched.clock import VirtualClock
from kubesched.config.args import PluginArgs
from kubesched.config.gates import FeatureGates
from kubesched.framework.construction import Maker, make
from kubesched.framework.cycle import Cycle
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.handle import Handle
from kubesched.framework.hints import events_of
from kubesched.framework.interface import Hint, Plugin
from kubesched.framework.rank import rank
from kubesched.framework.registration import register
from kubesched.framework.runtime import Framework
from kubesched.framework.search import ALL_NODES, Search, find
from kubesched.framework.status import Status
from kubesched.framework.weighted import Weighted
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent, match
from kubesched.testing.builders import cluster


class Trial:
    """A plugin on a cluster of the given objects, which arrive in this order; pods must be `on` a node.

    `plugin` is a plugin class or a function of (args, handle), as an entry point names it. `clock` is
    virtual: `advance` it to let time pass. Raises RegistrationError for what is no plugin, and ValueError for
    arguments that it cannot take.
    """

    clock: VirtualClock
    cluster: Cluster
    handle: Handle
    plugin: Plugin

    def __init__(
        self,
        plugin: Maker,
        *objects: Object,
        args: PluginArgs | None = None,
        gates: FeatureGates | None = None,
    ) -> None:
        self.clock = VirtualClock()
        self.cluster = cluster(*objects, clock=self.clock)
        self.handle = Handle(self.cluster, self.clock, gates or FeatureGates(), Random(0))  # noqa: S311 - ties only
        name = str(getattr(plugin, "name", None) or getattr(plugin, "__name__", "plugin"))
        self.plugin = make(name, plugin, args, self.handle)
        self._item = register(self.plugin)

    def rejected(self, pod: Pod) -> dict[str, Status]:
        """Who cannot hold the pod: the status of each node that the plugin rejects, by the node's name.

        A rejection by PreFilter concerns every node. Raises PluginError where the plugin answers Error.
        """
        diagnosis = self._filtered(pod)
        nodes = self.cluster.nodes
        explicit = diagnosis.statuses()
        passed = set(diagnosis.view.rows[diagnosis.feasible].tolist())
        return {
            nodes.names[row]: explicit.get(row, diagnosis.absent)
            for row in nodes.order.tolist()
            if row not in passed
        }

    def scores(self, pod: Pod) -> dict[str, int]:
        """The normalised score, 0..100, of each node that the plugin does not reject, by the node's name.

        Empty where PreScore skips the pod. Raises PluginError for a score out of range.
        """
        diagnosis = self._filtered(pod)
        scores = rank(diagnosis.cycle, diagnosis.feasible_view)
        names = (self.cluster.nodes.names[row] for row in scores.view.rows)
        if self._item.name not in scores.plugins:
            return {}
        points = scores.points[scores.plugins.index(self._item.name)]
        return dict(zip(names, points.tolist(), strict=True))

    def wakes(self, pod: Pod, event: WatchEvent) -> bool:
        """Let something happen, and say whether a pod that the plugin had rejected is then tried again."""
        happened = self.cluster.apply(event)
        return any(
            registered.hint is None or registered.hint(pod, one) is Hint.Queue
            for one in happened
            for registered in events_of(self._item)
            if match(registered.event, one)
        )

    def _filtered(self, pod: Pod) -> Diagnosis:
        points = self._item.points
        framework = Framework(
            self.clock,
            pre_filters=[points["pre_filter"]] if "pre_filter" in points else [],
            filters=[points["filter"]] if "filter" in points else [],
            pre_scores=[points["pre_score"]] if "pre_score" in points else [],
            scores=[Weighted(points["score"], 1, points.get("normalize"))] if "score" in points else [],
        )
        cycle = Cycle(pod, self.cluster, framework=framework, now=self.clock.now(), exhaustive=True)
        return find(cycle, Search(percentage=ALL_NODES, nominated_first=False))
