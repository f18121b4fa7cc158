"""Random histories: the cluster agrees with a plain model of upstream's cache, and with its own objects."""

from __future__ import annotations

from cache_model import CacheModel
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kubesched.api.labels import EVERYTHING
from kubesched.api.labels import selector_from_map as pairs
from kubesched.api.pod import Pod
from kubesched.clock import VirtualClock
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.selectors import SelectorClass
from kubesched.state.view import View
from kubesched.testing.builders import BuiltNode, BuiltPod, namespace, node, pod

NODES = st.sampled_from(["n1", "n2", "n3", "n4"])
PODS = st.sampled_from(["p1", "p2", "p3", "p4", "p5", "p6"])
SPACES = st.sampled_from(["x", "y"])
APPS = st.sampled_from(["web", "db"])
TEAMS = st.sampled_from(["red", "blue"])
CLASSES = [
    SelectorClass(frozenset({"x"}), pairs({"app": "web"})),
    SelectorClass(frozenset(), pairs({"app": "web"}), pairs({"team": "red"})),
    SelectorClass(frozenset({"y"}), EVERYTHING, pairs({"team": "blue"})),
    SelectorClass(frozenset(), pairs({"tier": "1"}), EVERYTHING),
]


@st.composite
def nodes(draw: st.DrawFn) -> BuiltNode:
    """A node of any shape."""
    made = node(draw(NODES)).in_zone(draw(st.sampled_from(["", "a", "b"])))
    made = made.cpu(draw(st.integers(1, 3)))
    made = made.gpu(8) if draw(st.booleans()) else made
    made = made.taint(draw(APPS)) if draw(st.booleans()) else made
    made = made.cordoned(draw(st.booleans()))
    for name in draw(st.lists(st.sampled_from(["i", "j", "k"]), max_size=3)):
        made = made.has_image(name, size=draw(st.integers(1, 3)))
    return made.label("rack", draw(st.sampled_from(["1", "2"]))) if draw(st.booleans()) else made


@st.composite
def pods(draw: st.DrawFn) -> BuiltPod:
    """A pod of any shape."""
    made = pod(draw(PODS), draw(SPACES)).label("app", draw(APPS))
    made = made.label("tier", draw(st.sampled_from(["1", "2"]))) if draw(st.booleans()) else made
    made = made.cpu(draw(st.sampled_from(["1", "100m", "0"]))) if draw(st.booleans()) else made
    made = made.request("vendor.io/x", 1) if draw(st.booleans()) else made
    made = made.host_port(draw(st.sampled_from([80, 81]))) if draw(st.booleans()) else made
    made = made.terminating() if draw(st.booleans()) else made
    made = made.away_from({"app": draw(APPS)}, namespaces=(draw(SPACES),)) if draw(st.booleans()) else made
    return made.near({"app": draw(APPS)}, weight=draw(st.integers(0, 2))) if draw(st.booleans()) else made


class ClusterMachine(RuleBasedStateMachine):
    """Any events in any order."""

    @initialize()
    def begin(self) -> None:
        self.state = Cluster(VirtualClock())
        self.model = CacheModel()
        self.alive: dict[str, Pod] = {}

    @rule(made=nodes())
    def node_is_put(self, made: BuiltNode) -> None:
        self.state.apply(WatchEvent("MODIFIED", made))
        self.model.put_node(made)

    @rule(name=NODES)
    def node_is_deleted(self, name: str) -> None:
        known = self.state.get("Node", name) is not None
        assert bool(self.state.apply(WatchEvent("DELETED", node(name)))) is known
        if known:
            self.model.remove_node(name)

    @rule(made=pods(), name=NODES)
    def pod_is_put(self, made: BuiltPod, name: str) -> None:
        placed = self.model.pods.get(made.uid, name)
        self.state.apply(WatchEvent("ADDED", made.on(placed)))
        self.model.put_pod(made.uid, placed)

    @rule(made=pods(), name=NODES)
    def pod_is_put_somewhere_else(self, made: BuiltPod, name: str) -> None:
        self.state.apply(WatchEvent("MODIFIED", made.on(name)))
        self.model.put_pod(made.uid, name)

    @rule(made=pods())
    def pod_is_gone(self, made: BuiltPod) -> None:
        self.state.apply(WatchEvent("DELETED", made.on("anywhere")))
        if made.uid in self.model.pods:
            self.model.remove_pod(made.uid)

    @rule(made=pods(), name=NODES)
    def pod_is_assumed(self, made: BuiltPod, name: str) -> None:
        if made.uid not in self.model.pods:
            self.state.assume(made, name)
            self.model.put_pod(made.uid, name, assumed=True)

    @precondition(lambda self: self.model.assumed)
    @rule(data=st.data())
    def pod_is_forgotten(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(sorted(self.model.assumed)))
        self.state.forget(uid)
        self.model.remove_pod(uid)

    @rule(made=pods(), name=NODES)
    def pod_is_nominated(self, made: BuiltPod, name: str) -> None:
        self.state.nominated.add(made, name)

    @rule(name=SPACES, team=TEAMS)
    def namespace_is_put(self, name: str, team: str) -> None:
        self.state.apply(WatchEvent("ADDED", namespace(name, team=team)))

    @rule(name=SPACES)
    def namespace_is_deleted(self, name: str) -> None:
        self.state.apply(WatchEvent("DELETED", namespace(name)))

    @rule(wanted=st.sampled_from([*CLASSES, (CLASSES[0], CLASSES[3])]))
    def selector_is_asked_for(self, wanted: SelectorClass | tuple[SelectorClass, ...]) -> None:
        self.state.pods.count(wanted)

    @rule(key=st.sampled_from(["rack", "kubernetes.io/hostname"]))
    def label_is_asked_for(self, key: str) -> None:
        self.state.nodes.label(key)

    @rule(made=pods())
    def what_if_is_asked(self, made: BuiltPod) -> None:
        view = View(self.state, self.state.nodes.order)
        if len(view) and made.uid not in self.model.pods:
            view.add([0], [[made]]).ports()
        self.model.snapshot()

    @rule()
    def cycle_begins(self) -> None:
        self.state.nodes.snapshot()
        self.model.snapshot()
        state = self.state.nodes
        assert [state.names[slot] for slot in state.order] == self.model.order
        for name, images in self.model.seen.items():
            found = state.image_class(int(state.images[state.slot[name]]))
            assert {image: tuple(seen) for image, seen in found.items()} == images

    @invariant()
    def nothing_drifts(self) -> None:
        assert self.state.audit() == []

    @invariant()
    def the_model_agrees(self) -> None:
        state, model = self.state, self.model
        assert state.nodes.slot.keys() == model.infos.keys()
        assert state.assumed == model.assumed
        for name, info in model.infos.items():
            assert (name in state.nodes) is (info.node is not None)
            assert [p.uid for p in state.pods.on_node(state.nodes.slot[name])] == info.pods


TestRandomHistories = ClusterMachine.TestCase
TestRandomHistories.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
