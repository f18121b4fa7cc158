"""How many pods on each node match a selector, kept through every event and never recounted.

Pods with the same namespace and labels form one label class; a selector class is matched against label
classes, not against pods. A pod event then touches one number per selector class that its label class
matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kubesched.api.labels import NOTHING, Selector
from kubesched.state.types import I32

_ROOM = 1024
"""How many selector classes are kept counted.

The one not asked for longest makes room; it is counted again when asked.
"""


@dataclass(frozen=True, slots=True)
class SelectorClass:
    """Pods that match a selector, in some namespaces.

    These are named, or are those whose labels the namespace selector matches.
    """

    namespaces: frozenset[str]
    selector: Selector
    namespace_selector: Selector = NOTHING

    def matches(
        self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str] | None
    ) -> bool:
        """Say whether such a pod counts. `namespace_labels` is None for a namespace that is not known.

        An unknown namespace is matched by name, or by the selector that matches everything.
        """
        return self.covers(namespace, namespace_labels) and self.selector.matches(labels)

    def covers(self, namespace: str, namespace_labels: Mapping[str, str] | None) -> bool:
        """Say whether the namespace counts."""
        if namespace in self.namespaces:
            return True
        if namespace_labels is None:
            return self.namespace_selector.is_empty
        return self.namespace_selector.matches(namespace_labels)

    @property
    def reads_namespaces(self) -> bool:
        """Whether namespace labels decide: a named selector other than the two constant ones."""
        return not (self.namespace_selector.nothing or self.namespace_selector.is_empty)


Conjunction = tuple[SelectorClass, ...]
"""Pods that match every one of these."""


_Place = tuple[str | None, tuple[str, str] | None]
"""A namespace (None: any) and a label pair (None: any)."""


class LabelClass:
    """All pods of one namespace with the same labels: how many per slot, and how many of them terminate."""

    __slots__ = ("all", "labels", "leaving", "namespace", "rows")

    def __init__(self, namespace: str, labels: Mapping[str, str]) -> None:
        self.namespace = namespace
        self.labels = labels
        self.all: dict[int, int] = {}
        self.leaving: dict[int, int] = {}
        self.rows: list[int] = []


class SelectorCounts:
    """The counts, one row per selector class and one column per slot: of all pods, and of live ones."""

    def __init__(
        self, capacity: Callable[[], int], namespace_labels: Callable[[str], Mapping[str, str] | None]
    ) -> None:
        self._capacity = capacity
        self._namespace_labels = namespace_labels
        self._classes: dict[tuple[str, frozenset[tuple[str, str]]], LabelClass] = {}
        self._by_namespace: dict[str, set[LabelClass]] = {}
        self._rows: dict[Conjunction, int] = {}
        self._filed: dict[_Place, dict[Conjunction, int]] = {}
        self._free: list[int] = []
        self._all: I32 = np.zeros((0, capacity()), np.int32)
        self._live: I32 = np.zeros((0, capacity()), np.int32)

    def count(self, wanted: Conjunction, *, live_only: bool) -> I32:
        """Give the number of matching pods on each slot: I32[N], read only."""
        row = self._rows.pop(wanted, None)
        if row is None:
            row = self._register(wanted)
        self._rows[wanted] = row
        if self._all.shape[1] < self._capacity():
            self._fit()
        counts: I32 = (self._live if live_only else self._all)[row]
        return counts

    def add(self, slot: int, namespace: str, labels: Mapping[str, str], leaving: bool) -> None:
        """Count a pod."""
        key = (namespace, frozenset(labels.items()))
        known = self._classes.get(key)
        if known is None:
            known = self._classes[key] = self._open(namespace, labels)
        if slot >= self._all.shape[1]:
            self._fit()
        known.all[slot] = known.all.get(slot, 0) + 1
        if leaving:
            known.leaving[slot] = known.leaving.get(slot, 0) + 1
        for row in known.rows:
            self._all[row, slot] += 1
            if not leaving:
                self._live[row, slot] += 1

    def remove(self, slot: int, namespace: str, labels: Mapping[str, str], leaving: bool) -> None:
        """Take a pod off the counts."""
        key = (namespace, frozenset(labels.items()))
        known = self._classes[key]
        _decrement(known.all, slot)
        if leaving:
            _decrement(known.leaving, slot)
        for row in known.rows:
            self._all[row, slot] -= 1
            if not leaving:
                self._live[row, slot] -= 1
        if not known.all:
            del self._classes[key]
            peers = self._by_namespace[namespace]
            peers.discard(known)
            if not peers:
                del self._by_namespace[namespace]

    def namespace_changed(self, namespace: str) -> None:
        """Match the pods of a namespace anew, after its labels changed or it came or went."""
        labels = self._namespace_labels(namespace)
        for wanted, row in self._rows.items():
            if not any(part.reads_namespaces for part in wanted):
                continue
            for known in self._by_namespace.get(namespace, ()):
                matches = _matches(wanted, known, labels)
                if matches == (row in known.rows):
                    continue
                if matches:
                    known.rows.append(row)
                    self._enter(known, row, 1)
                else:
                    known.rows.remove(row)
                    self._enter(known, row, -1)

    def registered(self) -> Iterable[Conjunction]:
        """The selector classes that are being counted."""
        return self._rows.keys()

    def _open(self, namespace: str, labels: Mapping[str, str]) -> LabelClass:
        """Begin a label class and match all selector classes against it."""
        known = LabelClass(namespace, labels)
        namespace_labels = self._namespace_labels(namespace)
        known.rows = [
            row for wanted, row in self._filed_for(known) if _matches(wanted, known, namespace_labels)
        ]
        self._by_namespace.setdefault(namespace, set()).add(known)
        return known

    def _register(self, wanted: Conjunction) -> int:
        """Begin to count a selector class."""
        if len(self._rows) >= _ROOM:
            self._forget(next(iter(self._rows)))
        if not self._free:
            self._more_rows()
        row = self._free.pop()
        for place in _places(wanted):
            self._filed.setdefault(place, {})[wanted] = row
        for known in self._candidates(wanted):
            if _matches(wanted, known, self._namespace_labels(known.namespace)):
                known.rows.append(row)
                self._enter(known, row, 1)
        return row

    def _filed_for(self, known: LabelClass) -> Iterable[tuple[Conjunction, int]]:
        """The selector classes that may match a label class, and their rows."""
        found: dict[Conjunction, int] = {}
        for namespace in (known.namespace, None):
            for anchor in (None, *known.labels.items()):
                filed = self._filed.get((namespace, anchor))
                if filed:
                    found.update(filed)
        return found.items()

    def _candidates(self, wanted: Conjunction) -> Iterable[LabelClass]:
        """The label classes that may match: those of the named namespaces, where only names decide."""
        first = wanted[0]
        if not first.namespace_selector.nothing:
            return self._classes.values()
        return (known for name in first.namespaces for known in self._by_namespace.get(name, ()))

    def _forget(self, wanted: Conjunction) -> None:
        """Stop counting a selector class."""
        row = self._rows.pop(wanted)
        for place in _places(wanted):
            filed = self._filed[place]
            del filed[wanted]
            if not filed:
                del self._filed[place]
        for known in self._classes.values():
            if row in known.rows:
                known.rows.remove(row)
        self._all[row] = 0
        self._live[row] = 0
        self._free.append(row)

    def _enter(self, known: LabelClass, row: int, sign: int) -> None:
        """Add a label class to a row (sign 1) or take it off (-1)."""
        for slot, number in known.all.items():
            self._all[row, slot] += sign * number
            self._live[row, slot] += sign * (number - known.leaving.get(slot, 0))

    def _more_rows(self) -> None:
        """Make room for more selector classes."""
        rows = len(self._all)
        more = max(8, rows)
        self._all = np.concatenate([self._all, np.zeros((more, self._all.shape[1]), np.int32)])
        self._live = np.concatenate([self._live, np.zeros((more, self._live.shape[1]), np.int32)])
        self._free.extend(range(rows + more - 1, rows - 1, -1))

    def _fit(self) -> None:
        """Make room for more slots."""
        missing = np.zeros((len(self._all), self._capacity() - self._all.shape[1]), np.int32)
        self._all = np.concatenate([self._all, missing], axis=1)
        self._live = np.concatenate([self._live, missing], axis=1)


def _places(wanted: Conjunction) -> list[_Place]:
    """Where a selector class is filed: by the namespaces it names, or none, and a pair that matches carry."""
    first = wanted[0]
    anchor = first.selector.anchor
    named: list[_Place] = [(namespace, anchor) for namespace in first.namespaces]
    return named if first.namespace_selector.nothing else [*named, (None, anchor)]


def _matches(wanted: Conjunction, known: LabelClass, namespace_labels: Mapping[str, str] | None) -> bool:
    """Say whether the pods of a label class match every part."""
    return all(part.matches(known.namespace, known.labels, namespace_labels) for part in wanted)


def _decrement(counts: dict[int, int], slot: int) -> None:
    """Take one off, and the entry with the last one."""
    if counts[slot] == 1:
        del counts[slot]
    else:
        counts[slot] -= 1
