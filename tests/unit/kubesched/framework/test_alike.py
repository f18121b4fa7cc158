"""What is kept for like pods is what a fresh calculation gives."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from fakes import FilterOnly, ScoreOnly, attempt, plugin, profile

from kubesched.clock import VirtualClock
from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.framework import SKIP, Cycle, Handle, NodeNames, PluginError, Slot, unresolvable, unschedulable
from kubesched.framework.alike import Alike
from kubesched.framework.profile import build
from kubesched.framework.rank import rank
from kubesched.framework.registration import RegistrationError, register
from kubesched.framework.search import ALL_NODES, Search, find
from kubesched.framework.status import error
from kubesched.plugins.registry import registry
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import ZONE, cluster, node, pod

PREFERS = {"app": "a"}
ASKING = (
    pod("plain").cpu(1).memory("1Gi"),
    pod("gpu").cpu(2).gpu(1).tolerates("dedicated"),
    pod("nothing"),
    pod("port").host_port(80).cpu("100m"),
    pod("picky").node_selector(ZONE, "z0").prefers_node(3, "disk", "In", "ssd").cpu(1),
    pod("image").image("big").cpu(1),
    pod("spread").cpu(1).label("app", "a").spread(PREFERS),
    pod("apart").cpu(1).label("app", "a").away_from(PREFERS),
    pod("near").cpu(1).label("app", "a").near(PREFERS, topology_key=ZONE, weight=5),
)


def framework_of(state):
    """The default profile over a state, with an empty memory."""
    config = default_configuration()
    return build(config.profiles[0], registry(), Handle(state, VirtualClock(), FeatureGates(), Random(0)))


def decision(framework, state, asking):
    """Everything that follows for one pod: verdicts, their texts, and the totals of the feasible nodes."""
    cycle = Cycle(asking, state, framework=framework)
    diagnosis = find(cycle, Search(percentage=ALL_NODES))
    worlds = diagnosis.feasible
    total = rank(cycle, diagnosis.feasible_view, detailed=False).total.tolist() if worlds.size > 1 else []
    detailed = rank(cycle, diagnosis.feasible_view).total.tolist() if worlds.size > 1 else []
    assert total == detailed
    return worlds.tolist(), total, diagnosis.statuses(), diagnosis.message(len(state.nodes))


def disturb(state, rng: Random, step: int) -> None:
    """Something happens: nodes come, change and go; pods come, are assumed, and go."""
    name = f"n{rng.randrange(12)}"
    kind = rng.randrange(6)
    if kind == 0:
        made = node(name).cpu(rng.randrange(2, 9)).gpu(rng.randrange(3)).in_zone(f"z{rng.randrange(2)}")
        made = made.has_image("big", size=10**9) if rng.randrange(2) else made.label("disk", "ssd")
        effect = rng.choice(["", "NoSchedule", "PreferNoSchedule"])
        made = made.taint("dedicated", effect=effect) if effect else made
        state.apply(WatchEvent("MODIFIED", made.cordoned(rng.randrange(5) == 0)))
    elif kind == 1 and name in state.nodes and len(state.nodes) > 2:
        state.apply(WatchEvent("DELETED", node(name)))
    elif kind == 2:
        arrived = pod(f"p{step}").cpu(rng.randrange(3)).label("app", rng.choice("ab")).on(name)
        state.apply(WatchEvent("ADDED", arrived.host_port(80) if rng.randrange(3) == 0 else arrived))
    elif kind == 3:
        state.assume(pod(f"a{step}").memory("2Gi").gpu(rng.randrange(2)), name)
    elif uids := sorted(state.pods.by_uid):
        uid = rng.choice(uids)
        if state.is_assumed(uid):
            state.forget(uid)
        else:
            state.apply(WatchEvent("DELETED", state.pods.by_uid[uid]))


@pytest.mark.parametrize("seed", range(3))
def test_like_pods_are_decided_as_if_each_were_the_first(seed):
    """Whatever happens in between, a profile that remembers says what a new one says."""
    rng = Random(seed)
    state = cluster(*(node(f"n{k}").cpu(4).in_zone(f"z{k % 2}") for k in range(4)))
    remembering = framework_of(state)
    for step in range(24):
        disturb(state, rng, step)
        for asking in rng.sample(ASKING, 3):
            assert decision(remembering, state, asking) == decision(framework_of(state), state, asking)


def test_the_changes_of_a_long_time_are_not_remembered_but_noticed():
    """After more changes than the log holds, all nodes are worked out anew."""
    state = cluster(*(node(f"n{k}").cpu(4) for k in range(3)))
    remembering = framework_of(state)
    for _ in range(3):
        decision(remembering, state, ASKING[0])
    state.assume(pod("full").cpu(4), "n0")
    for number in range(1500):
        state.assume(pod(f"x{number}"), "n1")
        state.forget(pod(f"x{number}").uid)
    assert decision(remembering, state, ASKING[0]) == decision(framework_of(state), state, ASKING[0])


class Signs(FilterOnly):
    """Rejects the named nodes and counts what it is asked; signs by the pod's label."""

    asked: list
    slot = Slot("Signs")

    def sign(self, pod):
        return pod.labels.get("kind")

    def pre_filter(self, cycle):
        self.asked.append("pre_filter")
        cycle.put(self.slot, "put")

    def filter(self, cycle, view):
        assert cycle.get(self.slot) == "put"
        self.asked.append(len(view))
        return super().filter(cycle, view)


def run(framework, state, asking):
    cycle = attempt(framework, asking, state)
    return find(cycle, Search()).plugin.tolist()


def test_only_what_changed_is_asked_again():
    """The first pod is not remembered, the second fills the memory, the others cost what changed."""
    signing = plugin(Signs, "S", bad=("n1",), asked=[])
    state = cluster(node("n0"), node("n1"), node("n2"))
    framework = profile(signing, plugin(ScoreOnly, "Score"))
    for _ in range(4):
        assert run(framework, state, pod("p").label("kind", "k")) == [-1, 0, -1]
    assert signing.asked == ["pre_filter", 3, "pre_filter", 3]
    state.assume(pod("other"), "n2")
    assert run(framework, state, pod("p").label("kind", "k")) == [-1, 0, -1]
    assert signing.asked[4:] == [1]


def test_a_pod_that_is_not_signed_is_asked_for_every_time():
    """None says that something else counts for this pod."""
    signing = plugin(Signs, "S", asked=[])
    framework, state = profile(signing), cluster(node("n0"), node("n1"))
    for _ in range(3):
        run(framework, state, pod("p"))
    assert signing.asked == ["pre_filter", 2] * 3


def test_a_plugin_that_does_not_sign_is_asked_for_every_time():
    """A plugin from outside need not know of signatures; those after it in the order are not remembered."""
    seen = []

    class Outside(FilterOnly):
        def filter(self, cycle, view):
            seen.append(len(view))
            return super().filter(cycle, view)

    signing = plugin(Signs, "S", bad=("n0",), asked=[])
    framework, state = profile(plugin(Outside, "O"), signing), cluster(node("n0"), node("n1"))
    for _ in range(3):
        assert run(framework, state, pod("p").label("kind", "k")) == [1, -1]
    assert seen == [2, 2, 2]
    assert signing.asked == ["pre_filter", 2, "pre_filter", 2, 2]


def test_another_signature_is_another_memory():
    """Pods that differ in what the plugin signs share nothing."""
    signing = plugin(Signs, "S", asked=[])
    framework, state = profile(signing), cluster(node("n0"))
    for kind in ("a", "b", "a", "b"):
        run(framework, state, pod("p").label("kind", kind))
    assert signing.asked == ["pre_filter", 1] * 4


@pytest.mark.parametrize("answer", [NodeNames(frozenset({"n1"})), unschedulable("no")])
def test_an_answer_that_concerns_the_whole_pod_is_not_kept(answer):
    """Only the plugin's own work can be left out; a rejection or a set of nodes is said anew each time."""

    class Narrow(Signs):
        def pre_filter(self, cycle):
            super().pre_filter(cycle)
            return answer

    signing = plugin(Narrow, "S", asked=[])
    framework, state = profile(signing), cluster(node("n0"), node("n1"))
    found = [run(framework, state, pod("p").label("kind", "k")) for _ in range(4)]
    assert found[1:] == found[:1] * 3
    assert signing.asked.count("pre_filter") == 4


def test_a_rejection_before_its_turn_leaves_no_state_of_a_plugin():
    """What a signing plugin put for an earlier pod is not there when this pod never came to it."""

    class Picky(FilterOnly):
        def pre_filter(self, cycle):
            return unresolvable("no") if cycle.pod.name == "bad" else None

    signing = plugin(Signs, "S", asked=[])
    framework, state = profile(plugin(Picky, "P"), signing), cluster(node("n0"))
    for _ in range(3):
        run(framework, state, pod("p").label("kind", "k"))
    good, bad = (attempt(framework, pod(name).label("kind", "k"), state) for name in ("p", "bad"))
    framework.run_pre_filter(good)
    framework.run_pre_filter(bad)
    assert (good.find(Signs.slot), bad.find(Signs.slot)) == ("put", None)
    assert signing.asked.count("pre_filter") == 2


def test_a_skip_is_kept():
    """A plugin that had nothing to say about the pod has nothing to say about the next one."""

    class Quiet(Signs):
        def pre_filter(self, cycle):
            super().pre_filter(cycle)
            return SKIP

    signing = plugin(Quiet, "S", bad=("n0",), asked=[])
    framework, state = profile(signing), cluster(node("n0"))
    for _ in range(4):
        assert run(framework, state, pod("p").label("kind", "k")) == [-1]
    assert signing.asked == ["pre_filter"] * 2


def test_what_ifs_are_not_remembered():
    """A world that differs from the cluster is worked out, and leaves no trace."""
    signing = plugin(Signs, "S", asked=[])
    framework, state = profile(signing), cluster(node("n0"), node("n1"))
    state.nominated.add(pod("coming").with_priority(9), "n0")
    for _ in range(4):
        run(framework, state, pod("p").label("kind", "k"))
    assert signing.asked == ["pre_filter", 2, 1, "pre_filter", 2, 1, 1, 1]


class SignedScore(ScoreOnly):
    """Signs every pod alike."""

    def sign(self, pod):
        return ()


class SignedScaled(SignedScore):
    def normalize(self, cycle, view, raw):
        return raw * 10


def test_points_are_kept_with_weight_and_normalisation():
    """The total of remembered points is that of fresh ones, whether or not all nodes have the same."""
    framework = profile(
        plugin(SignedScore, "Plain", points={"n0": 7}),
        plugin(SignedScaled, "Scaled", points={"n0": 1, "n1": 3}),
        plugin(SignedScaled, "Even", points={"n0": 4, "n1": 4}),
        plugin(ScoreOnly, "Outside", points={"n1": 1}),
        weights={"Plain": 2, "Scaled": 3, "Even": 2},
    )
    state = cluster(node("n0"), node("n1"))
    for _ in range(4):
        cycle = attempt(framework, pod("p"), state)
        view = find(cycle, Search()).feasible_view
        assert rank(cycle, view, detailed=False).total.tolist() == [44 + 80, 90 + 80 + 1]


def test_only_so_many_signatures_are_kept():
    """Memory is bounded, and pods that are seen once do not crowd out the kind that everybody runs."""
    known = Alike({"S": lambda pod: pod.name})
    for number in range(100):
        known.to(pod(f"p{number}"))
        known.to(pod("popular"))
    assert len(known._known) == 32
    assert known.to(pod("popular")) is known.to(pod("popular")) is not None


def test_a_plugin_that_cannot_sign_fails_the_attempt():
    """As any other exception of a plugin."""

    class Broken(SignedScore):
        def sign(self, pod):
            raise ZeroDivisionError("division by zero")

    framework = profile(plugin(Broken, "B"))
    with pytest.raises(PluginError, match="signing the pod: division by zero"):
        run(framework, cluster(node("n0")), pod("p"))


def test_a_filter_per_node_cannot_sign():
    """Its codes mean something in one cycle only."""

    class PerNode:
        name = "P"

        def filter_node(self, cycle, node):
            return None

        def sign(self, pod):
            return ()

    with pytest.raises(RegistrationError, match='plugin "P": sign goes with filter, not with filter_node'):
        register(PerNode())


def test_a_failure_leaves_the_memory_as_it_was():
    """What could not be worked out is worked out next time."""

    class Once(Signs):
        fails = True

        def filter(self, cycle, view):
            if len(self.asked) == 3 and self.fails:
                type(self).fails = False
                raise ValueError("not now")
            return super().filter(cycle, view)

    signing = plugin(Once, "S", bad=("n0",), asked=[])
    framework, state = profile(signing), cluster(node("n0"), node("n1"))
    asking = pod("p").label("kind", "k")
    run(framework, state, asking)
    with pytest.raises(PluginError, match="not now"):
        run(framework, state, asking)
    assert run(framework, state, asking) == [0, -1]
    assert np.array_equal(run(framework, state, asking), [0, -1])


def test_an_error_on_a_node_is_not_kept():
    """A plugin that failed on one node may not fail there again, although the node has not changed."""

    class Flaky(Signs):
        failing = True

        def filter(self, cycle, view):
            codes = super().filter(cycle, view)
            return np.full_like(codes, -1) if type(self).failing else codes

        def status(self, cycle, code):
            return error("not now") if code < 0 else super().status(cycle, code)

    signing = plugin(Flaky, "S", bad=("n0",), asked=[])
    framework, state = profile(signing), cluster(node("n0"), node("n1"))
    asking = pod("p").label("kind", "k")
    for _ in range(3):
        with pytest.raises(PluginError, match="not now"):
            run(framework, state, asking)
    Flaky.failing = False
    assert run(framework, state, asking) == [0, -1]
    asked = len(signing.asked)
    assert run(framework, state, asking) == [0, -1]
    assert signing.asked[asked:] == [], "what did not fail is kept"
