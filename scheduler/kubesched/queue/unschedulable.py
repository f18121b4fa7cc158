"""Pods that wait for an event: tried and rejected, or gated.

They are indexed by the plugin that rejected them, because an event only concerns pods rejected by plugins
that registered it: with 10,000 pods short of CPU, a new pod's labels are shown to none of them.
Follows upstream `backend/queue/unschedulable_pods.go` (1.36), which has no index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubesched.queue.entry import Entry


class UnschedulablePods:
    """Rejected and gated pods by uid, and by (profile, rejecting plugin); in order of arrival."""

    __slots__ = ("_by_rejector", "_entries", "_indexed")

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._by_rejector: dict[tuple[str, str], dict[str, Entry]] = {}
        self._indexed: dict[str, frozenset[str]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def get(self, uid: str) -> Entry | None:
        """The entry if it waits here."""
        return self._entries.get(uid)

    def push(self, entry: Entry) -> None:
        """Add an entry under its rejectors, or index it anew if it is here already."""
        self._unindex(entry)
        self._entries[entry.uid] = entry
        self._indexed[entry.uid] = frozenset(entry.rejectors)
        for plugin in entry.rejectors:
            self._by_rejector.setdefault((entry.pod.scheduler_name, plugin), {})[entry.uid] = entry

    def remove(self, uid: str) -> Entry | None:
        """Take the entry out if it waits here."""
        entry = self._entries.pop(uid, None)
        if entry is not None:
            self._unindex(entry)
        return entry

    def rejected_by(self, profile: str, plugins: Iterable[str]) -> list[Entry]:
        """The profile's pods that at least one of these plugins rejected, each once."""
        found: dict[str, Entry] = {}
        for plugin in plugins:
            found.update(self._by_rejector.get((profile, plugin), {}))
        return list(found.values())

    def _unindex(self, entry: Entry) -> None:
        for plugin in self._indexed.pop(entry.uid, frozenset()):
            key = (entry.pod.scheduler_name, plugin)
            bucket = self._by_rejector[key]
            del bucket[entry.uid]
            if not bucket:
                del self._by_rejector[key]
