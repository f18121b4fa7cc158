"""YAML files as data of which every part knows its line.

Stricter than YAML: a key may stand only once, keys are text, times stay text (as kubectl reads them), files
and aliases have a limit so that no file can make the loader swallow the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from schedlab.suite.positions import LoadError, Position, Problem

MAX_BYTES = 1 << 20
MAX_NODES = 100_000  # after aliases are expanded

Path_: TypeAlias = "tuple[str | int, ...]"

_MERGE = "tag:yaml.org,2002:merge"
_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"


class _Loader(yaml.CSafeLoader):
    """YAML 1.1 without timestamps and without base 60: `12:30` is text."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.rsplit(":", 1)[-1] not in {"timestamp", "int", "float"}
    ]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _INT,
    re.compile(r"^(?:[-+]?0b[01_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*))$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"^[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF)|[0-9]+[eE][-+][0-9]+)$"
    ),
    list("-+0123456789."),
)


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its data, and the nodes that know where each part of it stands."""

    file: Path
    node: yaml.Node
    data: Any

    def position(self, path: Path_ = ()) -> Position:
        """Where the value at `path` stands, or its nearest ancestor if it came in by a merge key."""
        node = self.node
        for step in path:
            following = child(node, step)
            if following is None:
                break
            node = following
        return at(self.file, node)


def at(file: Path, node: yaml.Node) -> Position:
    """The position of a node."""
    mark = node.start_mark
    return Position(file, mark.line + 1, mark.column + 1)


def child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    """The value under a key, or the item at an index."""
    if isinstance(node, yaml.MappingNode) and isinstance(step, str):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    return None


def read(file: Path) -> list[Document]:
    """The documents of a file; empty ones are left out.

    Raises:
        LoadError: the file cannot be read, is not YAML, or breaks a rule of this module.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise LoadError([Problem(Position(file), error.strerror or "cannot be read")]) from error
    return parse(raw, file)


def parse(raw: bytes, file: Path) -> list[Document]:
    """The documents in `raw`; `file` is only for messages.

    Raises:
        LoadError: as `read`.
    """
    if len(raw) > MAX_BYTES:
        raise LoadError([Problem(Position(file), f"the file has {len(raw)} bytes, the limit is {MAX_BYTES}")])
    try:
        return list(_documents(raw, file))
    except UnicodeDecodeError as error:
        raise LoadError([Problem(Position(file), "the file is not UTF-8 text")]) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = Position(file, mark.line + 1, mark.column + 1) if mark else Position(file)
        text = " ".join(part for part in (error.problem, error.context) if part)
        raise LoadError([Problem(where, f"not YAML: {text}", _flow_hint(raw, where.line))]) from error
    except yaml.YAMLError as error:
        raise LoadError([Problem(Position(file), f"not YAML: {error}")]) from error


def _flow_hint(raw: bytes, line: int) -> str:
    """The commonest reason: a bracket of an expression ends the `{ }` that it stands in."""
    text = raw.decode().splitlines()[line - 1 : line]
    quoted = "inside { } put an expression in quotes if it has brackets or commas"
    return quoted if text and "{" in text[0] and "(" in text[0] else ""


def _documents(raw: bytes, file: Path) -> Iterator[Document]:
    loader = _Loader(raw.decode("utf-8-sig"))
    try:
        while (node := _next_node(loader)) is not None:
            problems = list(_broken_rules(node, file))
            if problems:
                raise LoadError(problems)
            data = loader.construct_document(node)
            if data is not None:
                yield Document(file, node, data)
    finally:
        loader.dispose()


def _next_node(loader: _Loader) -> yaml.Node | None:
    return loader.get_node() if loader.check_node() else None


def _broken_rules(root: yaml.Node, file: Path) -> Iterator[Problem]:
    """Duplicate keys, keys that are no text, and more nodes than anybody writes by hand."""
    stack = [root]
    count = 0
    checked: set[int] = set()
    while stack:
        node = stack.pop()
        count += 1
        if count > MAX_NODES:
            yield Problem(
                at(file, root), f"the document has more than {MAX_NODES} parts once its aliases are expanded"
            )
            return
        if isinstance(node, yaml.MappingNode):
            if id(node) not in checked:
                yield from _broken_keys(node, file)
            stack.extend(value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            stack.extend(node.value)
        checked.add(id(node))


def _broken_keys(node: yaml.MappingNode, file: Path) -> Iterator[Problem]:
    seen: dict[str, yaml.Node] = {}
    for key, _ in node.value:
        if key.tag == _MERGE:
            continue
        if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
            shown = key.value if isinstance(key, yaml.ScalarNode) else "this key"
            yield Problem(at(file, key), f"{shown} is not text, and keys are", "put it in quotes")
            continue
        if key.value in seen:
            first = at(file, seen[key.value])
            yield Problem(at(file, key), f"{key.value!r} is given twice", f"first on line {first.line}")
        seen.setdefault(key.value, key)
