"""Any sequence of nominations, against a list of (pod, node) pairs in the order in which they were made."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kubesched.state.nominator import Nominator
from kubesched.testing.builders import BuiltPod, pod

PODS = st.sampled_from("pqrs")
NODES = st.sampled_from(["", "a", "b"])


class NominatorMachine(RuleBasedStateMachine):
    """The nominator and its model; `said` is what the API last said of each pod."""

    @initialize()
    def begin(self) -> None:
        self.placed: set[str] = set()
        self.nominator = Nominator(lambda uid: uid in self.placed)
        self.pairs: list[tuple[BuiltPod, str]] = []
        self.said = {name: pod(name) for name in "pqrs"}

    def node_of(self, uid: str) -> str | None:
        return next((node for nominated, node in self.pairs if nominated.uid == uid), None)

    def nominate(self, nominated: BuiltPod, target: str) -> None:
        self.pairs = [pair for pair in self.pairs if pair[0].uid != nominated.uid]
        if target and nominated.uid not in self.placed:
            self.pairs.append((nominated, target))

    @rule(name=PODS, node=NODES)
    def add(self, name: str, node: str) -> None:
        """The cycle, or the arrival of a pod, nominates."""
        nominated = self.said[name]
        self.nominator.add(nominated, node)
        self.nominate(nominated, node or nominated.nominated_node_name)

    @rule(name=PODS, node=NODES)
    def update(self, name: str, node: str) -> None:
        """The API says something new; where neither version names a node, an earlier nomination stays."""
        old, new = self.said[name], pod(name).nominated_to(node)
        self.said[name] = new
        self.nominator.update(old, new)
        named = old.nominated_node_name or new.nominated_node_name
        self.nominate(new, new.nominated_node_name if named else self.node_of(new.uid) or "")

    @rule(name=PODS)
    def delete(self, name: str) -> None:
        self.nominator.delete(self.said[name].uid)
        self.nominate(self.said[name], "")

    @rule(name=PODS)
    def place(self, name: str) -> None:
        """The API shows the pod on a node: the state ends its nomination, and none can follow."""
        uid = self.said[name].uid
        self.placed.add(uid)
        self.nominator.delete(uid)
        self.nominate(self.said[name], "")

    @rule(name=PODS)
    def displace(self, name: str) -> None:
        """The pod is gone, and one with its uid is not on a node."""
        self.placed.discard(self.said[name].uid)

    @invariant()
    def every_pod_is_nominated_once_and_in_order(self) -> None:
        for node in ("a", "b", "nowhere"):
            assert self.nominator.on(node) == [nominated for nominated, at in self.pairs if at == node]
        for known in self.said.values():
            assert self.nominator.node_of(known.uid) == self.node_of(known.uid)
        assert len(self.nominator) == len(list(self.nominator)) == len(self.pairs)

    @invariant()
    def only_nodes_with_nominations_are_kept(self) -> None:
        assert set(self.nominator.nodes()) == {node for _, node in self.pairs}


NominatorMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestNominator = NominatorMachine.TestCase
