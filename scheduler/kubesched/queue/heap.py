"""Entries in the order of a less function, with removal and reordering by uid in O(log n).

The standard library's heap cannot remove from the middle; marking removed entries and skipping them later
is no way out, since an entry's timestamp changes while its old mark would still be in the heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from kubesched.queue.entry import Entry

Less: TypeAlias = Callable[[Entry, Entry], bool]
"""Whether the first entry goes before the second: a strict weak order, as QueueSort's."""


class EntryHeap:
    """A binary heap with an index; entries that are equal by `less` leave in the order they were stamped."""

    __slots__ = ("_at", "_entries", "_less")

    def __init__(self, less: Less) -> None:
        self._less = less
        self._entries: list[Entry] = []
        self._at: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def get(self, uid: str) -> Entry | None:
        """The entry if it is here."""
        index = self._at.get(uid)
        return None if index is None else self._entries[index]

    def peek(self) -> Entry | None:
        """The entry that leaves next."""
        return self._entries[0] if self._entries else None

    def push(self, entry: Entry) -> None:
        """Add an entry; its uid must not be present."""
        self._entries.append(entry)
        self._rise(len(self._entries) - 1)

    def pop(self) -> Entry | None:
        """Take the first entry out, or None if there is none."""
        return self.remove(self._entries[0].uid) if self._entries else None

    def remove(self, uid: str) -> Entry | None:
        """Take one entry out of the middle, or None if it is not here."""
        index = self._at.pop(uid, None)
        if index is None:
            return None
        removed, last = self._entries[index], self._entries.pop()
        if last is not removed:
            self._entries[index] = last
            self._settle(index)
        return removed

    def reorder(self, uid: str) -> None:
        """Restore the order after this entry changed in a way that `less` reads."""
        self._settle(self._at[uid])

    def _settle(self, index: int) -> None:
        """Put the entry at `index` where it belongs, above or below.

        It goes down to a leaf first and rises from there: what takes a hole's place comes from the bottom and
        mostly belongs there, so this compares once per level instead of twice.
        """
        self._rise(self._descend(index))

    def _before(self, left: Entry, right: Entry) -> bool:
        if left.order < right.order:
            return not self._less(right, left)
        return self._less(left, right)

    def _rise(self, index: int) -> None:
        entries, at = self._entries, self._at
        entry = entries[index]
        while index > 0:
            above = (index - 1) // 2
            if not self._before(entry, entries[above]):
                break
            entries[index] = entries[above]
            at[entries[index].uid] = index
            index = above
        entries[index] = entry
        at[entry.uid] = index

    def _descend(self, index: int) -> int:
        entries, at = self._entries, self._at
        entry, size = entries[index], len(entries)
        while (below := 2 * index + 1) < size:
            if below + 1 < size and self._before(entries[below + 1], entries[below]):
                below += 1
            entries[index] = entries[below]
            at[entries[index].uid] = index
            index = below
        entries[index] = entry
        return index
