"""A plain model of upstream's scheduler cache: the parts whose state depends on history.

Dictionaries and lists only, one node and one pod at a time, in the words of `backend/cache`: NodeInfo's pod
list, the node tree, image states, and the snapshot that each cycle takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kubesched.api.node import Node


@dataclass
class Image:
    size: int
    nodes: set[str]


@dataclass
class Info:
    node: Node | None = None
    pods: list[str] = field(default_factory=list)
    images: dict[str, Image] = field(default_factory=dict)
    changed: bool = True


class CacheModel:
    """What upstream's cache would hold after the same events."""

    def __init__(self) -> None:
        self.infos: dict[str, Info] = {}
        self.tree: dict[str, list[str]] = {}
        self.images: dict[str, Image] = {}
        self.pods: dict[str, str] = {}
        self.assumed: set[str] = set()
        self.order: list[str] = []
        self.seen: dict[str, dict[str, tuple[int, int]]] = {}

    def put_node(self, node: Node) -> None:
        info = self.infos.setdefault(node.name, Info())
        old = info.node
        if old is not None:
            self._drop_images(old)
        if old is None:
            self._tree_add(node)
        elif old.zone != node.zone:
            self._tree_remove(old)
            self._tree_add(node)
        info.images = {}
        for image in node.status.images:
            for name in image.names:
                state = self.images.setdefault(name, Image(image.size_bytes, set()))
                state.nodes.add(node.name)
                info.images.setdefault(name, state)
        info.node, info.changed = node, True

    def remove_node(self, name: str) -> None:
        info = self.infos[name]
        assert info.node is not None
        self._tree_remove(info.node)
        self._drop_images(info.node)
        info.node, info.changed = None, True
        if not info.pods:
            del self.infos[name]

    def put_pod(self, uid: str, name: str, *, assumed: bool = False) -> None:
        if uid in self.pods:
            self.remove_pod(uid)
        info = self.infos.setdefault(name, Info())
        info.pods.append(uid)
        info.changed = True
        self.pods[uid] = name
        if assumed:
            self.assumed.add(uid)

    def remove_pod(self, uid: str) -> None:
        name = self.pods.pop(uid)
        self.assumed.discard(uid)
        info = self.infos[name]
        place = info.pods.index(uid)
        info.pods[place] = info.pods[-1]
        info.pods.pop()
        info.changed = True
        if not info.pods and info.node is None:
            del self.infos[name]

    def snapshot(self) -> None:
        nodes = [name for name, info in self.infos.items() if info.node is not None]
        rebuild = set(nodes) != set(self.seen)
        for name in nodes:
            info = self.infos[name]
            if info.changed or name not in self.seen:
                self.seen[name] = {
                    image: (state.size, len(state.nodes)) for image, state in info.images.items()
                }
                info.changed = False
        for name in set(self.seen) - set(nodes):
            del self.seen[name]
        if rebuild:
            zones = list(self.tree.values())
            longest = max((len(names) for names in zones), default=0)
            self.order = [names[i] for i in range(longest) for names in zones if i < len(names)]

    def _tree_add(self, node: Node) -> None:
        self.tree.setdefault(node.zone, []).append(node.name)

    def _tree_remove(self, node: Node) -> None:
        self.tree[node.zone].remove(node.name)
        if not self.tree[node.zone]:
            del self.tree[node.zone]

    def _drop_images(self, node: Node) -> None:
        for image in node.status.images:
            for name in image.names:
                state = self.images.get(name)
                if state is not None:
                    state.nodes.discard(node.name)
                    if not state.nodes:
                        del self.images[name]
