"""Reads a test file, or says everything that is wrong with it.

Strict: unknown fields, wrong types, operations that do not exist, expressions that do not compile, bindings
that nothing binds, and files that are missing are all found before anything runs, each with its line and a
suggestion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from msgspec import inspect

from schedlab.api.objects import Object
from schedlab.operations.registry import OPERATIONS
from schedlab.suite import document
from schedlab.suite.bindings import undefined
from schedlab.suite.check import Checker
from schedlab.suite.document import Document
from schedlab.suite.mutation import mutated, void
from schedlab.suite.plan import PlannedOperation, PlannedStep, Test
from schedlab.suite.positions import LoadError, Position, Problem, did_you_mean
from schedlab.suite.types import GROUP, TestDocument

FILE_NAME = "test.yaml"

T = TypeVar("T")


def load(path: Path) -> Test:
    """The test in a file.

    Raises:
        LoadError: with every problem of the file and of the files it names.
    """
    doc = single(path, "Test")
    checker = Checker(path, operations=lambda node: _operations(path, node))
    problems = list(checker.check(doc.node, inspect.type_info(TestDocument)))
    files, troubles = _files(doc)
    problems += troubles
    if problems:
        raise LoadError(problems)
    typed = convert(doc, TestDocument)
    test = _plan(doc, typed, files)
    problems = list(undefined(test, doc))
    if test.spec.mutation is not None:
        problems += void(test, test.spec.mutation, doc)
        problems += undefined(mutated(test, test.spec.mutation), doc)
    if problems:
        raise LoadError(problems)
    return test


def single(path: Path, kind: str) -> Document:
    """The only document of a file, of `kind` and of this format.

    Raises:
        LoadError: there is none, there are several, or it is something else.
    """
    documents = document.read(path)
    if len(documents) != 1:
        where = documents[1].position() if documents else Position(path)
        raise LoadError([Problem(where, f"the file holds {len(documents)} documents, one is needed")])
    doc = documents[0]
    if not isinstance(doc.data, dict):
        raise LoadError([Problem(doc.position(), f"this is no mapping, a {kind} is needed")])
    if doc.data.get("apiVersion") != GROUP:
        found = doc.data.get("apiVersion", "no apiVersion")
        raise LoadError([Problem(doc.position(("apiVersion",)), f"{found}, {GROUP} is needed")])
    if doc.data.get("kind") != kind:
        hint = did_you_mean(str(doc.data.get("kind", "")), [kind])
        raise LoadError(
            [Problem(doc.position(("kind",)), f"kind is {doc.data.get('kind')!r}, not {kind!r}", hint)]
        )
    return doc


def convert(doc: Document, kind: type[T]) -> T:
    """The document as a value of a type that `Checker` has compared it with.

    Raises:
        LoadError: it does not fit in a way that the comparison did not find.
    """
    try:
        return msgspec.convert(doc.data, kind)
    except msgspec.ValidationError as error:
        raise LoadError([Problem(doc.position(), str(error))]) from error


def _operations(path: Path, node: yaml.Node) -> Iterator[Problem]:
    """The problems of a list of operations: each a mapping with one key, which names it."""
    checker = Checker(path, expressions=True)
    if not isinstance(node, yaml.SequenceNode):
        yield checker.problem(node, "a list of operations is needed")
        return
    for item in node.value:
        if not isinstance(item, yaml.MappingNode) or len(item.value) != 1:
            count = f"{len(item.value)} keys" if isinstance(item, yaml.MappingNode) else "no key"
            hint = "start each operation with its own `- `"
            yield checker.problem(
                item, f"an operation is a mapping with one key, its name; this has {count}", hint
            )
            continue
        key, fields = item.value[0]
        if key.value not in OPERATIONS:
            hint = did_you_mean(key.value, list(OPERATIONS))
            yield checker.problem(key, f"there is no operation {key.value!r}", hint)
            continue
        yield from checker.check(fields, inspect.type_info(OPERATIONS[key.value]), key.value)
        inline = document.child(fields, "resource")
        if isinstance(inline, yaml.MappingNode):
            yield from _unnamed_kind(path, inline)


def _files(doc: Document) -> tuple[dict[str, list[Object]], list[Problem]]:
    """The documents of all files that operations name, with what is wrong with them."""
    found: dict[str, list[Object]] = {}
    problems: list[Problem] = []
    for name, node in _named_files(doc.node):
        if name in found:
            continue
        path = doc.file.parent / name
        if not path.is_file():
            siblings = [
                entry.name for entry in doc.file.parent.iterdir() if entry.suffix in (".yaml", ".yml")
            ]
            problems.append(
                Problem(document.at(doc.file, node), f"there is no file {name}", did_you_mean(name, siblings))
            )
            found[name] = []
            continue
        try:
            documents = document.read(path)
        except LoadError as error:
            problems += error.problems
            documents = []
        checker = Checker(path, expressions=True)
        for entry in documents:
            problems += _broken_object(entry)
            problems += checker.expressions_in(entry.node)
        found[name] = [entry.data for entry in documents]
    return found, problems


def _named_files(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Every `file:` directly below an operation's key."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value in OPERATIONS and isinstance(value, yaml.MappingNode):
                for field, name in value.value:
                    if field.value == "file" and isinstance(name, yaml.ScalarNode):
                        yield name.value, name
            yield from _named_files(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _named_files(item)


def _broken_object(entry: Document) -> Iterator[Problem]:
    if isinstance(entry.node, yaml.MappingNode):
        yield from _unnamed_kind(entry.file, entry.node)
    else:
        yield Problem(entry.position(), "a Kubernetes object is a mapping")


def _unnamed_kind(path: Path, node: yaml.MappingNode) -> Iterator[Problem]:
    """What every object must say before anything can be done with it."""
    for field in ("apiVersion", "kind"):
        value = document.child(node, field)
        if value is None or not isinstance(value.value, str):
            yield Problem(document.at(path, value or node), f"the object has no {field}")
    metadata = document.child(node, "metadata")
    if metadata is not None and not isinstance(metadata, yaml.MappingNode):
        yield Problem(document.at(path, metadata), "metadata is no mapping")


def _plan(doc: Document, typed: TestDocument, files: Mapping[str, list[Object]]) -> Test:
    def planned(operations: list[dict[str, Any]], *path: str | int) -> list[PlannedOperation]:
        return [
            PlannedOperation(tag, fields or {}, doc.position((*path, index)))
            for index, item in enumerate(operations)
            for tag, fields in item.items()
        ]

    steps = [
        PlannedStep(
            name=step.name or f"step {index + 1}",
            timeouts=step.timeouts,
            try_=planned(step.try_, "spec", "steps", index, "try"),
            catch=planned(step.catch, "spec", "steps", index, "catch"),
            finally_=planned(step.finally_, "spec", "steps", index, "finally"),
            cleanup=planned(step.cleanup, "spec", "steps", index, "cleanup"),
        )
        for index, step in enumerate(typed.spec.steps)
    ]
    return Test(
        path=doc.file,
        metadata=typed.metadata,
        spec=typed.spec,
        steps=steps,
        catch=planned(typed.spec.catch, "spec", "catch"),
        files=files,
    )
