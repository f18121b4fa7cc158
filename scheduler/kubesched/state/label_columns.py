"""One column per node label key that somebody asked for: the number of the value on each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from kubesched.api.labels import Operator, Requirement
from kubesched.state.classes import ClassTable
from kubesched.state.types import I32, Bool

ABSENT = -1
"""The number in a label column of a node that does not have the label."""

NOWHERE = -2
"""The number of a value that no node has; it equals nothing in any column."""


class LabelColumn:
    """The values of one key: a number per slot, and what the numbers mean."""

    def __init__(self, key: str, capacity: int) -> None:
        self.key = key
        self.ids: I32 = np.full(capacity, ABSENT, np.int32)
        self.values: ClassTable[str] = ClassTable()

    def set(self, slot: int, value: str | None) -> None:
        """Note the value on a node; None takes it away."""
        before = int(self.ids[slot])
        self.ids[slot] = ABSENT if value is None else self.values.acquire(value)
        if before >= 0:
            self.values.release(before)

    def value_id(self, value: str) -> int:
        """The number of a value, NOWHERE if no node has it."""
        number = self.values.find(value)
        return NOWHERE if number is None else number

    def admits(self, requirement: Requirement) -> Bool:
        """Say of each slot whether its value meets the requirement: Bool[N]."""
        match requirement.operator:
            case Operator.IN:
                return self._among(requirement.values)
            case Operator.NOT_IN:
                return ~self._among(requirement.values)
            case Operator.EXISTS:
                return self.ids >= 0
            case Operator.DOES_NOT_EXIST:
                return self.ids < 0
        answers: Bool = np.append(
            self.values.decide(requirement.admits), False
        )  # the last one is for ABSENT (-1)
        admitted: Bool = answers[self.ids]
        return admitted

    def grow(self, capacity: int) -> None:
        """Make room for more slots."""
        self.ids = np.concatenate([self.ids, np.full(capacity - len(self.ids), ABSENT, np.int32)])

    def _among(self, values: Iterable[str]) -> Bool:
        """Say of each slot whether its value is one of these."""
        wanted = [number for value in values if (number := self.values.find(value)) is not None]
        if len(wanted) == 1:
            same: Bool = self.ids == wanted[0]
            return same
        return np.isin(self.ids, np.array(wanted, np.int32))


class LabelColumns:
    """The label columns of all nodes; a key gets its column when it is first asked for."""

    def __init__(self) -> None:
        self._columns: dict[str, LabelColumn] = {}

    def column(self, key: str, capacity: int, labels: Iterable[tuple[int, Mapping[str, str]]]) -> LabelColumn:
        """Give the key's column, building it from the labels of all nodes the first time."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = LabelColumn(key, capacity)
            for slot, pairs in labels:
                column.set(slot, pairs.get(key))
        return column

    def put(self, slot: int, labels: Mapping[str, str]) -> None:
        """Take over a node's labels."""
        for key, column in self._columns.items():
            column.set(slot, labels.get(key))

    def grow(self, capacity: int) -> None:
        """Make room for more slots."""
        for column in self._columns.values():
            column.grow(capacity)

    def all(self) -> Iterable[LabelColumn]:
        """All columns there are."""
        return self._columns.values()
