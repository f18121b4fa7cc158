"""Finds the smallest state that still shows a difference: fewer objects first, then fewer fields.

Delta debugging (Zeller, Hildebrandt: Simplifying and isolating failure-inducing input, 2002) over the list of
objects, then a greedy pass that takes single fields and list entries away. Both sides are asked again for
every attempt; what the API server refuses does not show the difference.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schedlab.fuzz.plan import Object

Path = tuple[str | int, ...]
#: True if the difference still shows for these objects and this pod.
Shows = Callable[[Sequence[Object], Object], Awaitable[bool]]

#: Without these an object is not one, or is another one.
_ESSENTIAL = frozenset(
    {"apiVersion", "kind", "metadata", "name", "namespace", "spec", "containers", "nodeName"}
)


@dataclass(slots=True)
class Shrunk:
    """A state that shows the difference, and how many attempts it took."""

    objects: list[Object]
    pod: Object
    attempts: int


async def shrink(objects: Sequence[Object], pod: Object, shows: Shows, *, attempts: int = 400) -> Shrunk:
    """The smallest state found within so many attempts. The given one must show the difference."""
    search = _Search(shows, attempts)
    kept = await search.fewer_objects(list(objects), pod)
    before = -1
    while search.left and before != _size(kept, pod):
        before = _size(kept, pod)
        kept, pod = await search.fewer_fields(kept, pod)
        kept = await search.fewer_objects(kept, pod)
    return Shrunk(kept, pod, attempts - search.left)


class _Search:
    def __init__(self, shows: Shows, attempts: int) -> None:
        self._shows = shows
        self.left = attempts

    async def _try(self, objects: Sequence[Object], pod: Object) -> bool:
        if self.left <= 0:
            return False
        self.left -= 1
        return await self._shows(objects, pod)

    async def fewer_objects(self, objects: list[Object], pod: Object) -> list[Object]:
        """Leave out ever smaller runs of objects, as long as the difference shows without them."""
        size = max(len(objects) // 2, 1)
        while size and self.left:
            start = 0
            while start < len(objects):
                rest = objects[:start] + objects[start + size :]
                if await self._try(rest, pod):
                    objects = rest
                else:
                    start += size
            size //= 2
        return objects

    async def fewer_fields(self, objects: list[Object], pod: Object) -> tuple[list[Object], Object]:
        """Take away every field and list entry that the difference does not need, outer ones first."""
        world = [*objects, pod]
        for index in range(len(world)):
            for path in list(removable(world[index])):
                slim = without(world[index], path)
                if slim is None:  # an enclosing part has gone already
                    continue
                attempt = [*world[:index], slim, *world[index + 1 :]]
                if await self._try(attempt[:-1], attempt[-1]):
                    world = attempt
        return world[:-1], world[-1]


def removable(value: Any, path: Path = ()) -> Iterator[Path]:  # noqa: ANN401 - any JSON value
    """Paths to all parts of a JSON value that may be tried without, outer ones before inner ones.

    List entries come last to first, so that taking one away does not move those still to be tried.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in _ESSENTIAL:
                yield (*path, key)
            yield from removable(inner, (*path, key))
    elif isinstance(value, list):
        for index in range(len(value) - 1, -1, -1):
            if not (path and path[-1] == "containers" and index == 0):
                yield (*path, index)
            yield from removable(value[index], (*path, index))


def without(obj: Object, path: Path) -> Object | None:
    """A copy of the object without the part at `path`; None if it has no such part."""
    slim = copy.deepcopy(obj)
    holder: Any = slim
    try:
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return slim


def _size(objects: Sequence[Object], pod: Object) -> int:
    return sum(1 for obj in (*objects, pod) for _ in removable(obj))
