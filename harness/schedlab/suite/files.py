"""The files that operations name: read once, each with what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from schedlab.api.objects import Object
from schedlab.operations import registry
from schedlab.operations.registry import OPERATIONS
from schedlab.suite import document
from schedlab.suite.check import Checker
from schedlab.suite.document import Document
from schedlab.suite.positions import LoadError, Problem, did_you_mean


def found(doc: Document, named: Callable[[str], str] = str) -> tuple[dict[str, list[Object]], list[Problem]]:
    """The documents of all files that operations name, with what is wrong with them.

    `named` is what a file is called in the plan.
    """
    files: dict[str, list[Document]] = {}
    problems: list[Problem] = []
    for tag, name, node in _named_files(doc.node):
        if name not in files:
            files[name], troubles = _read(doc, name, node)
            problems += troubles
        given = registry.own(tag).get("resource")
        for entry in files[name] if given else ():
            problems += Checker(entry.file, expressions=True).keys(entry.node, given or frozenset())
    return {named(name): [entry.data for entry in entries] for name, entries in files.items()}, problems


def _read(doc: Document, name: str, node: yaml.Node) -> tuple[list[Document], list[Problem]]:
    """One file, named at a node, with what is wrong with it for any operation."""
    path = doc.file.parent / name
    if not path.is_file():
        return [], [missing(doc, name, node)]
    try:
        entries = document.read(path)
    except LoadError as error:
        return [], error.problems
    checker = Checker(path, expressions=True)
    return entries, [
        problem
        for entry in entries
        for problem in (*_broken_object(entry), *checker.expressions_in(entry.node))
    ]


def missing(doc: Document, name: str, node: yaml.Node) -> Problem:
    """A file that is named and not there."""
    folder = (doc.file.parent / name).parent
    entries = folder.iterdir() if folder.is_dir() else ()
    siblings = [entry.name for entry in entries if entry.suffix in (".yaml", ".yml")]
    hint = did_you_mean(Path(name).name, siblings)
    return Problem(document.at(doc.file, node), f"there is no file {name}", hint)


def _named_files(node: yaml.Node) -> Iterator[tuple[str, str, yaml.Node]]:
    """Every `file:` directly below an operation's key, with that key."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value in OPERATIONS and isinstance(value, yaml.MappingNode):
                for field, name in value.value:
                    if field.value == "file" and isinstance(name, yaml.ScalarNode):
                        yield key.value, name.value, name
            yield from _named_files(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _named_files(item)


def _broken_object(entry: Document) -> Iterator[Problem]:
    if isinstance(entry.node, yaml.MappingNode):
        yield from unnamed_kind(entry.file, entry.node)
    else:
        yield Problem(entry.position(), "a Kubernetes object is a mapping")


def unnamed_kind(path: Path, node: yaml.MappingNode) -> Iterator[Problem]:
    """What every object must say before anything can be done with it."""
    for field in ("apiVersion", "kind"):
        value = document.child(node, field)
        if value is None or not isinstance(value.value, str):
            yield Problem(document.at(path, value or node), f"the object has no {field}")
    metadata = document.child(node, "metadata")
    if metadata is not None and not isinstance(metadata, yaml.MappingNode):
        yield Problem(document.at(path, metadata), "metadata is no mapping")
