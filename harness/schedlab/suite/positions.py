"""Where something stands in a file, and everything that is wrong with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.errors import UsageError


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file; line and column count from 1."""

    file: Path
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{shown(self.file)}:{self.line}:{self.column}"


def shown(file: Path) -> str:
    """A path as one would type it here."""
    cwd = Path.cwd()
    return str(file.relative_to(cwd)) if file.is_relative_to(cwd) else str(file)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong, where it is, and the way out."""

    position: Position
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.position}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class LoadError(UsageError):
    """A file that cannot be used, with all that is wrong with it at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def render(self) -> str:
        """One line per problem: the format editors and terminals make links of."""
        return self.message


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A hint that names the closest known word, or all of them if none is close."""
    lowered = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean {lowered[close[0]]!r}?"
    return "known here: " + ", ".join(sorted(known)) if known else ""
