"""What became of a migration: what was written, and every thing that was not carried over."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from schedlab.errors import SchedlabError
from schedlab.suite.document import Document, Path_
from schedlab.suite.positions import Position, Problem


class Untranslatable(SchedlabError):  # noqa: N818 - a fact about a text
    """Something that has no counterpart here."""


@dataclass(slots=True)
class Findings:
    """The account of one migration."""

    written: list[Path] = field(default_factory=list)
    left: list[Problem] = field(default_factory=list)
    """What was left out or means something else now, each with its place."""

    def leave(self, doc: Document, path: Path_, message: str, hint: str = "") -> None:
        """Note something of a document."""
        self.left.append(Problem(doc.position(path), message, hint))

    def leave_file(self, file: Path, message: str, hint: str = "") -> None:
        """Note something of a file as a whole."""
        self.left.append(Problem(Position(file), message, hint))

    def comments(self, file: Path) -> None:
        """Note that the comments of a file that is written anew are lost."""
        lines = file.read_text(errors="replace").splitlines()
        numbers = [number for number, line in enumerate(lines, 1) if line.lstrip().startswith("#")]
        if numbers:
            where = Position(file, numbers[0])
            self.left.append(Problem(where, f"{len(numbers)} comments are not carried over"))
