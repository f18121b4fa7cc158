"""docs/operations.md, made from the operations themselves: docstrings are the text, fields are the tables.

`python -m schedlab.suite.reference` prints it.
"""

from __future__ import annotations

import inspect as python_inspect
import json
import re
import sys
from collections.abc import Iterator

import msgspec
from msgspec import inspect

from schedlab.operations.base import Action, Assertion, Operation
from schedlab.operations.registry import OPERATIONS
from schedlab.suite.types import DURATION_PATTERN

HEAD = """\
<!-- Made by `python -m schedlab.suite.reference` from the docstrings in harness/schedlab/operations. -->
# Operations

Every entry of a step is a mapping with one key, the name of an operation. [format.md](format.md) explains the
rest of a test. A value in parentheses is an expression, in every field.
"""


def markdown() -> str:
    """The whole page."""
    groups: dict[str, list[type[Operation]]] = {
        "Actions": [kind for kind in OPERATIONS.values() if issubclass(kind, Action)],
        "Assertions": [kind for kind in OPERATIONS.values() if issubclass(kind, Assertion)],
    }
    parts = [HEAD, "| operation | |", "| --- | --- |"]
    parts += [
        f"| [{kind.tag}](#{kind.tag}) | {_first_line(kind)} |" for kinds in groups.values() for kind in kinds
    ]
    for title, kinds in groups.items():
        parts += ["", f"## {title}", ""]
        for kind in kinds:
            parts += _page(kind)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _page(kind: type[Operation]) -> Iterator[str]:
    yield f"### {kind.tag}"
    yield ""
    yield python_inspect.cleandoc(kind.__doc__ or "")
    yield ""
    yield "| field | type | default | |"
    yield "| --- | --- | --- | --- |"
    info = inspect.type_info(kind)
    if isinstance(info, inspect.StructType):
        shared = {field.encode_name for base in (Action, Assertion) for field in _fields(base)}
        own = [field for field in info.fields if field.encode_name not in shared]
        yield from (_row(field) for field in (*own, *(f for f in info.fields if f not in own)))
    yield ""


def _fields(kind: type[Operation]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _row(field: inspect.Field) -> str:
    default = "required" if field.required else _default(field)
    return f"| `{field.encode_name}` | {_type(field.type)} | {default} | {_description(field.type)} |"


def _default(field: inspect.Field) -> str:
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    unsaid = value in (None, [], {}, "") or isinstance(
        value, msgspec.Struct
    )  # a part's fields have their own
    return "" if unsaid else f"`{json.dumps(value)}`"


def _description(kind: inspect.Type) -> str:
    """The description of a field; the outermost one, as an inner one is about the type alone."""
    if isinstance(kind, inspect.Metadata):
        schema = kind.extra_json_schema or {}
        return str(schema.get("description") or _description(kind.type))
    return ""


_PLAIN: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "number",
    inspect.BoolType: "true or false",
    inspect.AnyType: "anything",
}


def _type(kind: inspect.Type) -> str:
    """A type in words."""
    text = _PLAIN.get(type(kind), "value")
    match kind:
        case inspect.Metadata():
            text = _type(kind.type)
        case inspect.StrType(pattern=pattern) if pattern == DURATION_PATTERN:
            text = "duration"
        case inspect.UnionType():
            text = " or ".join(_type(one) for one in kind.types if not isinstance(one, inspect.NoneType))
        case inspect.ListType():
            text = f"list of {_type(kind.item_type)}"
        case inspect.DictType():
            text = f"mapping to {_type(kind.value_type)}"
        case inspect.LiteralType():
            text = ", ".join(sorted(f"`{value}`" for value in kind.values))
        case inspect.StructType():
            text = "mapping: " + ", ".join(f"`{field.encode_name}`" for field in kind.fields)
    return text


def _first_line(kind: type[Operation]) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]


if __name__ == "__main__":
    sys.stdout.write(markdown())
