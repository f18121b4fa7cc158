"""Equal values share a small number: decide once per class, gather per node."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np

from kubesched.state.types import I64, Bool

T = TypeVar("T", bound=Hashable)


class ClassTable(Generic[T]):
    """Numbers values by content and counts their uses.

    A number is free for another value once nobody uses it.
    `version` grows whenever a number begins or ceases to mean something: answers kept per number are good for
    one version. A what-if that needs a number for a value that no node has takes a loose one: it is valid
    until the next `sweep`, which the writer calls before it changes anything.
    """

    def __init__(self) -> None:
        self.version = 0
        self._ids: dict[T, int] = {}
        self._values: list[T | None] = []
        self._uses: list[int] = []
        self._free: list[int] = []
        self._loose: set[int] = set()

    def __len__(self) -> int:
        """The largest number in use, plus one: how long an array of answers must be."""
        return len(self._values)

    def __getitem__(self, number: int) -> T:
        """Give the value of a number. KeyError for a number that means nothing."""
        value = self._values[number] if 0 <= number < len(self._values) else None
        if value is None:
            raise KeyError(number)
        return value

    def find(self, value: T) -> int | None:
        """Give the number of a value without using it, None if it has none."""
        return self._ids.get(value)

    def acquire(self, value: T, times: int = 1) -> int:
        """Give the value's number and count one more use, or several."""
        number = self._number(value)
        self._uses[number] += times
        return number

    def exchange(self, before: int, value: T) -> int:
        """Give the number of a value that comes in place of another."""
        number = self.acquire(value)
        self.release(before)
        return number

    def release(self, number: int) -> None:
        """Count one use less."""
        self._uses[number] -= 1
        if self._uses[number] == 0:
            self._drop(number)

    def borrow(self, value: T) -> int:
        """Give the value's number without counting a use; good until the next `sweep`."""
        number = self._number(value)
        if self._uses[number] == 0:
            self._loose.add(number)
        return number

    def sweep(self) -> None:
        """Free the numbers that were only borrowed."""
        while self._loose:
            number = self._loose.pop()
            if self._uses[number] == 0:
                self._drop(number)

    def items(self) -> Iterator[tuple[int, T]]:
        """Go through the numbers that mean something."""
        for value, number in self._ids.items():
            yield number, value

    def uses(self, number: int) -> int:
        """How often a number is in use; 0 for a free one."""
        return self._uses[number]

    def decide(self, question: Callable[[T], bool]) -> Bool:
        """Ask a yes-or-no question once per class: Bool[len(self)], to be indexed by class numbers."""
        answers = np.zeros(len(self._values), np.bool_)
        for number, value in self.items():
            answers[number] = question(value)
        return answers

    def measure(self, question: Callable[[T], int]) -> I64:
        """Ask for a whole number once per class: I64[len(self)], to be indexed by class numbers."""
        answers = np.zeros(len(self._values), np.int64)
        for number, value in self.items():
            answers[number] = question(value)
        return answers

    def _number(self, value: T) -> int:
        """Find or give out a number."""
        number = self._ids.get(value)
        if number is not None:
            return number
        self.version += 1
        if self._free:
            number = self._free.pop()
            self._values[number] = value
        else:
            number = len(self._values)
            self._values.append(value)
            self._uses.append(0)
        self._ids[value] = number
        return number

    def _drop(self, number: int) -> None:
        """Free a number."""
        value = self._values[number]
        if value is not None:
            del self._ids[value]
        self.version += 1
        self._values[number] = None
        self._loose.discard(number)
        self._free.append(number)
