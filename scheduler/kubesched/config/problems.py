"""What is wrong with a configuration file, and where: file, line, column, field, and the way out."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to correct. Line and column count from 1; None when the file does not hold the field."""

    field: str
    message: str
    line: int | None = None
    column: int | None = None

    def render(self, source: str) -> str:
        """The problem on one line, in the form that editors turn into a link."""
        place = source if self.line is None else f"{source}:{self.line}:{self.column}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class ConfigError(ValueError):
    """A configuration that cannot be used. `problems` lists everything found, in the file's order."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0)))
        super().__init__("\n".join(problem.render(source) for problem in self.problems))


def failed_to_open(error: OSError) -> str:
    """An error of the file system in Go's words."""
    return f"open {error.filename}: {os.strerror(error.errno or 0).lower()}"


class OptionsError(ValueError):
    """A flag has a value that cannot be used."""


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """' (did you mean "x"?)' when a known word is close, else nothing. Case alone never hides the match."""
    by_lower = {word.lower(): word for word in known}
    close = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=0.6)
    return f' (did you mean "{by_lower[close[0]]}"?)' if close else ""
