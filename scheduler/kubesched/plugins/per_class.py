"""Answers per class of nodes, kept as long as the classes stay the same.

A plugin that decides per value asks its plain question once per class of taints (or images, or ports) and
gathers the answers by the nodes' class numbers. Pods of one workload ask the same question, so the answers
of the latest questions are kept for as long as no class number changes its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from numpy.typing import NDArray

if TYPE_CHECKING:
    import numpy as np

    from kubesched.state.classes import ClassTable

T = TypeVar("T", bound=Hashable)
_MOST_QUESTIONS = 256


class Answers(Generic[T]):
    """Whole numbers per class, one array per question; forgotten when the class table's version moves."""

    def __init__(self, table: ClassTable[T]) -> None:
        self._table = table
        self._version = -1
        self._known: dict[Hashable, NDArray[np.int64]] = {}

    def to(self, key: Hashable, question: Callable[[T], int]) -> NDArray[np.int64]:
        """The answers to the question that `key` stands for, indexed by class number."""
        if self._version != self._table.version or len(self._known) > _MOST_QUESTIONS:
            self._known.clear()
            self._version = self._table.version
        answers = self._known.get(key)
        if answers is None:
            answers = self._known[key] = self._table.measure(question)
        return answers
