"""JSON schemas of the files people write, generated from the types.

Editors complete and check with them. They are a little laxer than the loader (a schema cannot know which
bindings exist), never stricter.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from schedlab.api.objects import Json
from schedlab.operations.registry import OPERATIONS
from schedlab.suite import check
from schedlab.suite.types import StepTemplate, TestDocument

DIALECT = "https://json-schema.org/draft/2020-12/schema"
EXPRESSION = {"type": "string", "pattern": r"^\([\s\S]+\)$", "description": "An expression in CEL."}
_TYPED = {"integer", "number", "boolean", "array", "object"}


def schema_of(kind: str) -> dict[str, Any]:
    """The schema of a kind of file: `test`, `steptemplate`, `scheduler`, `report` or `compare`."""
    if kind == "compare":
        from schedlab.compare.comparison import Comparison  # noqa: PLC0415 - it builds on this package

        return type_schema("What schedlab compare has found (--json)", Comparison)
    if kind == "report":
        from schedlab.report.document import Report  # noqa: PLC0415 - it builds on this package

        return type_schema("A report of schedlab (report.json)", Report)
    if kind == "scheduler":
        from schedlab.schedulers.declaration import Declaration  # noqa: PLC0415 - it builds on this package

        return type_schema("A scheduler under test by schedlab", Declaration)
    return test_schema() if kind == "test" else template_schema()


def test_schema() -> dict[str, Any]:
    """The schema of `test.yaml`."""
    return _with_operations("A test of schedlab", TestDocument)


def template_schema() -> dict[str, Any]:
    """The schema of a step template."""
    return _with_operations("A step of tests of schedlab", StepTemplate)


def _with_operations(title: str, root: type) -> dict[str, Any]:
    """The schema of a document that holds lists of operations."""
    kinds = list(OPERATIONS.values())
    references, definitions = msgspec.json.schema_components([root, *kinds], ref_template="#/$defs/{name}")
    names = dict(zip(OPERATIONS, references[1:], strict=True))
    parts = {reference["$ref"].rsplit("/", 1)[-1] for reference in references[1:]}
    shown = {
        name: _part_with_expressions(definition) if name in parts else definition
        for name, definition in definitions.items()
    }
    shown["Operations"] = {
        "type": "array",
        "items": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {
                tag: {**reference, "description": _first_line(OPERATIONS[tag])}
                for tag, reference in names.items()
            },
        },
    }
    return _schema(title, references[0], _linked(shown))


def type_schema(title: str, kind: type) -> dict[str, Any]:
    """The schema of another kind of document."""
    references, definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    return _schema(title, references[0], dict(definitions))


def encoded(schema: dict[str, Any]) -> str:
    """The schema as it is committed."""
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2).decode() + "\n"


def _tidy(tree: Json) -> Json:
    """Docstrings without the indentation of their source."""
    if isinstance(tree, dict):
        described = isinstance(tree.get("description"), str)
        clean = {"description": inspect.cleandoc(tree["description"])} if described else {}
        return {key: _tidy(value) for key, value in tree.items()} | clean
    return [_tidy(item) for item in tree] if isinstance(tree, list) else tree


def _schema(title: str, root: Mapping[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": DIALECT, "title": title, **root, "$defs": _tidy(definitions)}


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]


def _linked(tree: Json) -> Json:
    """Put the operations' schema where a list is marked as one of operations."""
    if isinstance(tree, dict):
        if tree.pop(check.OPERATIONS, None):
            kept = {key: tree[key] for key in ("description", "default") if key in tree}
            return {"$ref": "#/$defs/Operations", **kept}
        return {key: _linked(value) for key, value in tree.items()}
    return [_linked(item) for item in tree] if isinstance(tree, list) else tree


def _part_with_expressions(definition: dict[str, Any]) -> dict[str, Any]:
    """An operation's own schema: expressions may stand in its fields, not in its place."""
    return {key: _with_expressions(value, named=key == "properties") for key, value in definition.items()}


def _with_expressions(tree: Json, *, named: bool = False) -> Json:
    """Allow an expression wherever an operation wants a value that is not free text.

    `named` is true directly below `properties`, where keys are field names and not schema words.
    """
    if isinstance(tree, list):
        return [_with_expressions(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    inner = {}
    for key, value in tree.items():
        verbatim = key in ("default", "required", "enum") and not named
        inner[key] = value if verbatim else _with_expressions(value, named=key == "properties" and not named)
    if named:
        return inner
    constrained = inner.get("type") in _TYPED or "enum" in inner or "pattern" in inner
    if not constrained:
        return inner
    kept = {key: inner.pop(key) for key in ("description", "default") if key in inner}
    return {"anyOf": [inner, EXPRESSION], **kept}
