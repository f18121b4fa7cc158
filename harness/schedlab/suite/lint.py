"""Checks files without running them: tests, step templates, scheduler declarations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from schedlab.schedulers import declaration
from schedlab.suite import document, loader, rules, templates
from schedlab.suite.positions import LoadError, Problem
from schedlab.suite.types import GROUP

KINDS = ("Scheduler", "StepTemplate")
"""What is found by its kind; tests are found by their file's name."""


def check(paths: Sequence[Path]) -> tuple[int, list[Problem]]:
    """How many files were checked, and everything that is wrong with them."""
    files = 0
    problems: list[Problem] = []
    names: dict[str, Path] = {}
    for file in found(paths):
        files += 1
        try:
            problems += _checked(file, names)
        except LoadError as error:
            problems += error.problems
    return files, problems


def _checked(file: Path, names: dict[str, Path]) -> Iterator[Problem]:
    """What is wrong with a file that can be loaded.

    Raises:
        LoadError: it cannot.
    """
    match kind_of(file):
        case "Scheduler":
            declaration.load(file)
        case "StepTemplate":
            templates.load(file, file.parent)
        case _:
            test = loader.load(file)
            doc = document.read(file)[0]
            twin = names.setdefault(test.id, file)
            if twin != file:
                yield Problem(doc.position(("metadata", "name")), f"{test.id} is also the id of {twin}")
            yield from rules.judged(test, doc)


def found(paths: Sequence[Path]) -> Iterator[Path]:
    """The files of schedlab below some paths; a named file counts in any case."""
    for path in paths:
        if path.is_file():
            yield path
            continue
        for file in sorted(path.rglob("*.yaml")):
            if file.name == loader.FILE_NAME or kind_of(file):
                yield file


def kind_of(file: Path) -> str:
    """Which of `KINDS` a file says it is."""
    text = file.read_bytes()[:4096].decode(errors="replace")
    if f"apiVersion: {GROUP}" not in text:
        return ""
    return next((kind for kind in KINDS if f"kind: {kind}\n" in text), "")
