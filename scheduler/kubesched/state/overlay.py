"""What the worlds of a view differ by: which pods came and went in each, and what that adds up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kubesched.api.pod import HostPort, Pod
from kubesched.state.pods import PodColumns
from kubesched.state.types import I64, Bool, wide

Worlds = npt.NDArray[np.object_]
"""K times Moves, or None for a world that does not differ."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Pods that came to one world's node, and pods of the cluster that went from it, by UID.

    `ports` says of each host port of a moved pod whether the last of these pods came and took it, or went and
    freed it: a node's ports are a set, so that the order of the moves decides.
    """

    added: dict[str, Pod] = field(default_factory=dict)
    removed: dict[str, Pod] = field(default_factory=dict)
    ports: dict[HostPort, bool] = field(default_factory=dict)

    def signed(self) -> Iterator[tuple[Pod, int]]:
        """Go through the moved pods: 1 for one that came, -1 for one that went."""
        for pod in self.added.values():
            yield pod, 1
        for pod in self.removed.values():
            yield pod, -1


@dataclass(frozen=True, slots=True)
class Overlay:
    """The moves of K worlds and their sums, laid out like a node's books: I64[K, 3 + R].

    R is what it was when a pod was moved last; resources that came up later are zero.
    """

    worlds: Worlds
    amounts: I64

    @classmethod
    def nothing(cls, k: int, width: int) -> Overlay:
        """K worlds without a difference, over books of a width."""
        return cls(np.full(k, None, object), np.zeros((k, width), np.int64))

    def moved(self) -> list[int]:
        """The worlds that differ."""
        return [k for k, moves in enumerate(self.worlds.tolist()) if moves is not None]

    def take(self, index: slice | npt.NDArray[np.generic]) -> Overlay:
        """Some of the worlds."""
        return Overlay(self.worlds[index], self.amounts[index])

    def choose(self, ok: Bool, other: Overlay) -> Overlay:
        """Each world from here where ok, else from the other."""
        width = max(self.amounts.shape[1], other.amounts.shape[1])
        amounts = np.where(ok[:, None], wide(self.amounts, width), wide(other.amounts, width))
        return Overlay(np.where(ok, self.worlds, other.worlds), amounts)


class Advance:
    """An overlay in the making: pods are moved list by list, then `done` gives the new value."""

    def __init__(self, before: Overlay, pods: PodColumns) -> None:
        self._pods = pods
        self._before = before.amounts
        self._worlds = before.worlds.copy()
        self._moved: list[Pod] = []
        self._starts: dict[int, int] = {}

    def add(self, k: int, slot: int, pods: Iterable[Pod]) -> None:
        """Put pods into world k, or take their removal back. ValueError for a pod that is there."""
        added, removed, ports = self._open(k)
        slot_of = self._pods.slot_of
        for pod in pods:
            uid = pod.uid
            back = removed.pop(uid, None) if removed else None
            if back is None:
                if uid in added or slot_of(uid) == slot:
                    raise ValueError(f"pod {pod.key} ({uid}) is on the node of world {k} already")
                added[uid] = pod
            self._moved.append(back or pod)
            if pod.host_ports:
                ports |= dict.fromkeys(pod.host_ports, True)
        self._worlds[k] = _moves(added, removed, ports)

    def remove(self, k: int, slot: int, pods: Iterable[Pod]) -> None:
        """Take pods out of world k. ValueError for a pod that is not there."""
        added, removed, ports = self._open(k)
        slot_of, by_uid = self._pods.slot_of, self._pods.by_uid
        for pod in pods:
            uid = pod.uid
            gone = added.pop(uid, None) if added else None
            if gone is None:
                if uid in removed or slot_of(uid) != slot:
                    raise ValueError(f"pod {pod.key} ({uid}) is not on the node of world {k}")
                gone = removed[uid] = by_uid[uid]
            self._moved.append(gone)
            if gone.host_ports:
                ports |= dict.fromkeys(gone.host_ports, False)
        self._worlds[k] = _moves(added, removed, ports)

    def done(self, sign: int) -> Overlay:
        """Give the new overlay; sign 1 if pods were added, -1 if they were removed."""
        pods = self._pods.amounts_of(self._moved)
        amounts = wide(self._before, pods.shape[1])
        if amounts is self._before:
            amounts = amounts.copy()
        ends = [*self._starts.values(), len(self._moved)]
        filled = [
            (k, start) for (k, start), end in zip(self._starts.items(), ends[1:], strict=True) if start < end
        ]
        if filled:
            worlds, starts = zip(*filled, strict=True)
            amounts[list(worlds)] += sign * np.add.reduceat(pods, starts, axis=0)
        return Overlay(self._worlds, amounts)

    def _open(self, k: int) -> tuple[dict[str, Pod], dict[str, Pod], dict[HostPort, bool]]:
        """Copy what was moved in world k before. ValueError if the world was named already."""
        if k in self._starts:
            raise ValueError(f"world {k} is named twice")
        self._starts[k] = len(self._moved)
        before = self._worlds[k]
        if before is None:
            return {}, {}, {}
        return dict(before.added), dict(before.removed), dict(before.ports)


def _moves(added: dict[str, Pod], removed: dict[str, Pod], ports: dict[HostPort, bool]) -> Moves | None:
    """The moves of a world; None if it does not differ."""
    return Moves(added, removed, ports) if added or removed or ports else None
