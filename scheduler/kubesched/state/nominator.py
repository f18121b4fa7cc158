"""Pods that are nominated to a node but not placed yet: room was made there, which others must leave alone.

Follows upstream `backend/queue/nominator.go`. It is told by the scheduling cycle before the API is, so its
word may differ from `status.nominatedNodeName`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kubesched.api.pod import Pod


def _never(_uid: str) -> bool:
    """Without anybody to ask, no pod is bound yet."""
    return False


class Nominator:
    """Nominated pods by node, each pod at most once, in the order of nomination."""

    def __init__(self, is_placed: Callable[[str], bool] = _never) -> None:
        self._is_placed = is_placed
        self._on: dict[str, dict[str, Pod]] = {}
        self._node_of: dict[str, str] = {}

    def __len__(self) -> int:
        """The number of nominated pods."""
        return len(self._node_of)

    def __iter__(self) -> Iterator[Pod]:
        """All nominated pods."""
        return (pod for pods in self._on.values() for pod in pods.values())

    def add(self, pod: Pod, node_name: str = "") -> None:
        """Nominate a pod to a node; without one, to what its status says, or to nothing if that is empty.

        An earlier nomination of the pod ends. A pod that is bound to a node already is not nominated.
        """
        self.delete(pod.uid)
        target = node_name or pod.nominated_node_name
        if not target or self._is_placed(pod.uid):
            return
        self._node_of[pod.uid] = target
        self._on.setdefault(target, {})[pod.uid] = pod

    def update(self, old: Pod, new: Pod) -> None:
        """Take over a pod's new version.

        What its status says now counts, except where neither version names a node: then the update was on its
        way before the nomination, which stays.
        """
        kept = self._node_of.get(old.uid, "")
        if old.nominated_node_name or new.nominated_node_name:
            kept = ""
        self.delete(old.uid)
        self.add(new, kept)

    def delete(self, uid: str) -> None:
        """End a pod's nomination, if there is one."""
        name = self._node_of.pop(uid, None)
        if name is None:
            return
        pods = self._on[name]
        del pods[uid]
        if not pods:
            del self._on[name]

    def on(self, node_name: str) -> list[Pod]:
        """The pods nominated to a node."""
        return list(self._on.get(node_name, {}).values())

    def node_of(self, uid: str) -> str | None:
        """The node a pod is nominated to."""
        return self._node_of.get(uid)

    def nodes(self) -> Iterable[str]:
        """The names of the nodes that some pod is nominated to; such a node need not exist."""
        return self._on.keys()
