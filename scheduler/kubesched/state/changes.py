"""Which objects of a kind came, changed or went, for indexes that are brought up to date when they are asked.

A reader keeps a mark and asks what happened since. The memory is bounded: a reader that has been away for too
long is told so, and starts anew.
"""

from __future__ import annotations

from collections.abc import Sequence

_ROOM = 4096
"""How many changes of a kind are remembered at least, once there were so many."""


class _Log:
    """The latest changes of one kind; `begin` is the number of the first that is still known."""

    __slots__ = ("begin", "keys")

    def __init__(self) -> None:
        self.begin = 0
        self.keys: list[str] = []


class Changes:
    """The keys of changed objects by kind, in the order of the changes."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}

    def note(self, kind: str, key: str) -> None:
        """Write down that an object came, changed or went."""
        log = self._logs.get(kind)
        if log is None:
            log = self._logs[kind] = _Log()
        log.keys.append(key)
        if len(log.keys) > 2 * _ROOM:
            del log.keys[:_ROOM]
            log.begin += _ROOM

    def mark(self, kind: str) -> int:
        """The number of changes of the kind so far: what to ask `since` with next time."""
        log = self._logs.get(kind)
        return 0 if log is None else log.begin + len(log.keys)

    def since(self, kind: str, mark: int) -> Sequence[str] | None:
        """The keys that changed after the mark; None where that is too long ago to be known."""
        log = self._logs.get(kind)
        if log is None:
            return ()
        return None if mark < log.begin else log.keys[mark - log.begin :]
