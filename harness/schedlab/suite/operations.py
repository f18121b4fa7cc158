"""Lists of operations, as they stand in steps: checked, then planned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import inspect

from schedlab.operations.registry import OPERATIONS
from schedlab.suite import document
from schedlab.suite.check import Checker
from schedlab.suite.document import Document
from schedlab.suite.files import unnamed_kind
from schedlab.suite.plan import PlannedBinding, PlannedOperation
from schedlab.suite.positions import Problem, did_you_mean
from schedlab.suite.types import Binding


def check(path: Path, node: yaml.Node) -> Iterator[Problem]:
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
            yield from unnamed_kind(path, inline)


def planned(
    doc: Document,
    operations: Sequence[dict[str, Any]],
    *path: str | int,
    named: Callable[[str], str] = str,
) -> list[PlannedOperation]:
    """The operations of the list at `path`; `named` is what the files they name are called in the plan."""
    return [
        PlannedOperation(tag, _renamed(fields or {}, named), doc.position((*path, index)))
        for index, item in enumerate(operations)
        for tag, fields in item.items()
    ]


def bound(doc: Document, bindings: Sequence[Binding], *path: str | int) -> list[PlannedBinding]:
    """The bindings of the list at `path`."""
    return [
        PlannedBinding(binding.name, binding.value, doc.position((*path, index)))
        for index, binding in enumerate(bindings)
    ]


def _renamed(fields: dict[str, Any], named: Callable[[str], str]) -> dict[str, Any]:
    return {**fields, "file": named(fields["file"])} if isinstance(fields.get("file"), str) else fields
