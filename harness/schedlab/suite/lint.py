"""Checks files without running them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from schedlab.schedulers import declaration
from schedlab.suite import document, loader
from schedlab.suite.positions import LoadError, Problem
from schedlab.suite.types import GROUP


def check(paths: Sequence[Path]) -> tuple[int, list[Problem]]:
    """How many files were checked, and everything that is wrong with them."""
    files = 0
    problems: list[Problem] = []
    names: dict[str, Path] = {}
    for file in found(paths):
        files += 1
        try:
            if not _is_scheduler(file):
                test = loader.load(file)
                twin = names.setdefault(test.id, file)
                if twin != file:
                    problems.append(
                        Problem(
                            document.read(file)[0].position(("metadata", "name")),
                            f"{test.id} is also the id of {twin}",
                        )
                    )
            else:
                declaration.load(file)
        except LoadError as error:
            problems += error.problems
    return files, problems


def found(paths: Sequence[Path]) -> Iterator[Path]:
    """The test files and scheduler declarations below some paths; a named file counts in any case."""
    for path in paths:
        if path.is_file():
            yield path
            continue
        for file in sorted(path.rglob("*.yaml")):
            if file.name == loader.FILE_NAME or _is_scheduler(file):
                yield file


def _is_scheduler(file: Path) -> bool:
    text = file.read_bytes()[:4096]
    return f"apiVersion: {GROUP}".encode() in text and b"kind: Scheduler" in text
