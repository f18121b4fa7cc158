"""Seeded choices: the same seed makes the same case on every machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A source of choices, named by its seed. `fork` gives a part of a case choices of its own."""

    def __init__(self, seed: int | str) -> None:
        self.seed = seed
        self._random = random.Random(seed)  # noqa: S311 - reproducible test cases, not secrets

    def fork(self, name: str) -> Draw:
        """An independent source for `name`, so that one part's choices do not shift another's."""
        return Draw(f"{self.seed}/{name}")

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self._random.choice(options)

    def weighted(self, options: dict[T, float]) -> T:
        """One of the options, in proportion to their weights."""
        return self._random.choices(list(options), weights=list(options.values()))[0]

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """Between `least` and `most` different options, as far as there are so many, in random order."""
        most = min(most, len(options))
        return self._random.sample(options, self._random.randint(min(least, most), most))

    def between(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return self._random.randint(least, most)

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All options in random order."""
        return self._random.sample(options, len(options))
