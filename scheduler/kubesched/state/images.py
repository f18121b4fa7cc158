"""Which images are on which nodes, how large they are, and on how many nodes each is.

As upstream keeps them (`backend/cache/cache.go`, `framework/types.go`): an image's size is the one that the
first node to report it gave, for as long as some node has the image; the number of nodes that have it is what
it was when the node's own record last changed before a snapshot, and so may differ between nodes.
ImageLocality reads both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kubesched.api.node import ContainerImage
from kubesched.state.classes import ClassTable


class ImageState(NamedTuple):
    """An image as one node sees it: its size in bytes, and on how many nodes it is."""

    size: int
    nodes: int


@dataclass(frozen=True, slots=True)
class ImageClass:
    """All images of a node. Equal content is one class."""

    states: Mapping[str, ImageState] = field(compare=False)
    content: frozenset[tuple[str, ImageState]]

    @classmethod
    def of(cls, states: Mapping[str, ImageState]) -> ImageClass:
        """Make the class of some images."""
        return cls(states, frozenset(states.items()))


@dataclass(slots=True)
class _Image:
    """One image name while some node has it."""

    size: int
    nodes: set[int]


class Images:
    """The images of all nodes, by slot."""

    def __init__(self) -> None:
        self.table: ClassTable[ImageClass] = ClassTable()
        self._images: dict[str, _Image] = {}
        self._on: dict[int, dict[str, _Image]] = {}
        self._version = 0
        self._frozen_at: dict[int, int] = {}

    def put(self, slot: int, listed: tuple[ContainerImage, ...]) -> None:
        """Take over what a node reports now in place of what it reported before."""
        sizes: dict[str, int] = {}
        for image in listed:
            for name in image.names:
                sizes.setdefault(name, image.size_bytes)
        before = self._on.get(slot, {})
        if not sizes and not before:
            return
        for name in before.keys() - sizes.keys():
            self._leave(slot, name)
        self._on[slot] = {name: self._join(slot, name, size) for name, size in sizes.items()}

    def remove(self, slot: int) -> None:
        """Forget what a node had."""
        for name in self._on.pop(slot, ()):
            self._leave(slot, name)
        self._frozen_at.pop(slot, None)

    def freeze(self, slot: int, current: int) -> int:
        """Give the class of what a snapshot taken now sees on a node, in place of its current one (or -1)."""
        if self._frozen_at.get(slot) == self._version and current >= 0:
            return current
        self._frozen_at[slot] = self._version
        states = {name: ImageState(i.size, len(i.nodes)) for name, i in self._on.get(slot, {}).items()}
        number = self.table.acquire(ImageClass.of(states))
        if current >= 0:
            self.table.release(current)
        return number

    def holders(self, name: str) -> frozenset[int]:
        """The slots of the nodes that have the image."""
        image = self._images.get(name)
        return frozenset(image.nodes) if image else frozenset()

    def names_on(self, slot: int) -> frozenset[str]:
        """The names of the images on a node."""
        return frozenset(self._on.get(slot, ()))

    def _join(self, slot: int, name: str, size: int) -> _Image:
        """Note that a node has an image; alone with it, the node decides its size."""
        image = self._images.get(name)
        if image is None:
            image = self._images[name] = _Image(size, {slot})
            self._version += 1
        elif slot not in image.nodes:
            image.nodes.add(slot)
            self._version += 1
        elif len(image.nodes) == 1 and image.size != size:
            image.size = size
            self._version += 1
        return image

    def _leave(self, slot: int, name: str) -> None:
        """Note that a node no longer has an image."""
        image = self._images[name]
        image.nodes.discard(slot)
        self._version += 1
        if not image.nodes:
            del self._images[name]
