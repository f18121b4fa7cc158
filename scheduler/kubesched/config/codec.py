"""Typed structs from YAML nodes, remembering where each field stands, and back to plain data.

PyYAML's nodes keep line and column, which parsed data does not; so decoding walks the nodes beside the type.
Nothing is guessed: an unknown or repeated key, a wrong type, a missing field is a Problem at its place. A
field with a problem falls back to its default, so that the rest of the file is still read and judged.
"""

from __future__ import annotations

import base64
import binascii
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache

import msgspec
import yaml
from msgspec.structs import FieldInfo

from kubesched.config import durations
from kubesched.config.args import ARGS, ArgsType, Seconds
from kubesched.config.problems import Problem, suggestion

_Build = Callable[[list[object]], object]
_MERGE = "tag:yaml.org,2002:merge"
_TYPE_META = ("apiVersion", "kind")
_WORDS: dict[object, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    bytes: "a base64 string",
    Seconds: 'a duration such as "15s"',
}


class Decoder:
    """Decodes one document; collects `problems` and remembers the place of every field by its path."""

    def __init__(self, api_version: str, args_type: ArgsType = ARGS.get) -> None:
        self.problems: list[Problem] = []
        self.args_type = args_type
        self.places: dict[str, yaml.Mark] = {}
        self._api_version = api_version
        self._scalars = yaml.SafeLoader("")

    def place(self, field: str) -> yaml.Mark | None:
        """Where a field stands, or else the nearest field around it that the file holds."""
        while field:
            if field in self.places:
                return self.places[field]
            field = field[: max(field.rfind("."), field.rfind("["))] if "." in field or "[" in field else ""
        return None

    def problem(self, field: str, message: str) -> None:
        """Note what is wrong with a field, at its place."""
        mark = self.place(field)
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        self.problems.append(Problem(field, message, line, column))

    def decode(self, node: yaml.Node, kind: object, field: str) -> object:
        """The value of a node as `kind`; `msgspec.UNSET` when it has a problem or is null."""
        self.places.setdefault(field, node.start_mark)
        if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
            return msgspec.UNSET
        kind = _without_none(kind)
        origin = typing.get_origin(kind)
        if origin in {tuple, list}:
            return self._sequence(node, typing.get_args(kind)[0], origin, field)
        if origin in {dict, Mapping}:
            return self._mapping(node, typing.get_args(kind)[1], field)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(node, kind, field)
        if isinstance(kind, typing.NewType) and kind is not Seconds:
            return self._plain(node, field)
        return self._scalar(node, kind, field)

    def _sequence(
        self, node: yaml.Node, item: object, build: Callable[[list[object]], object], field: str
    ) -> object:
        if not isinstance(node, yaml.SequenceNode):
            return self._mismatch(node, "a list", field)
        values = [self.decode(child, item, f"{field}[{i}]") for i, child in enumerate(node.value)]
        return msgspec.UNSET if any(value is msgspec.UNSET for value in values) else build(values)

    def _mapping(self, node: yaml.Node, item: object, field: str) -> object:
        if not isinstance(node, yaml.MappingNode):
            return self._mismatch(node, "a mapping", field)
        return {key: self.decode(value, item, _join(field, key)) for key, value in self._pairs(node, field)}

    def _struct(self, node: yaml.Node, kind: type[msgspec.Struct], field: str) -> object:
        if not isinstance(node, yaml.MappingNode):
            return self._mismatch(node, "a mapping", field)
        fields = struct_fields(kind)
        meta = _TYPE_META if hasattr(kind, "kind") else ()
        values: dict[str, object] = {}
        for key, child in sorted(self._pairs(node, field), key=lambda pair: pair[0] != "name"):
            path = _join(field, key)
            if key in meta:
                self._type_meta(child, kind, key, path)
            elif key not in fields:
                self.problem(path, f"unknown field{suggestion(key, (*fields, *meta))}")
            else:
                info = fields[key]
                refine = getattr(kind, "refine", None)
                refined = self._refined(refine, info.name, values, path) if refine else None
                value = self.decode(child, refined or info.type, path)
                if value is not msgspec.UNSET:
                    values[info.name] = value
        missing = [key for key, info in fields.items() if info.required and info.name not in values]
        for key in missing:
            if _join(field, key) not in self.places:
                self.problem(_join(field, key), "Required value")
        return msgspec.UNSET if missing else kind(**values)

    def _refined(
        self, refine: Callable[..., object], field: str, siblings: Mapping[str, object], path: str
    ) -> object:
        """A type that depends on sibling fields; a plugin that cannot tell it is a problem of the field."""
        try:
            return refine(field, siblings, self.args_type)
        except ValueError as error:
            self.problem(path, str(error))
            return None

    def _type_meta(self, node: yaml.Node, kind: type[msgspec.Struct], key: str, field: str) -> None:
        """`apiVersion` and `kind` may be left out of plugin args, but never differ from what is expected."""
        expected = self._api_version if key == "apiVersion" else kind.kind  # type: ignore[attr-defined]
        if node.value != expected:
            self.problem(field, f'must be "{expected}", not "{node.value}"')

    def _pairs(self, node: yaml.MappingNode, field: str) -> list[tuple[str, yaml.Node]]:
        pairs: dict[str, yaml.Node] = {}
        merged: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            if key_node.tag == _MERGE:
                merged |= self._merged(value, field)
                continue
            key = str(key_node.value)
            path = _join(field, key)
            if key in pairs:
                self.places[path] = key_node.start_mark
                self.problem(path, "duplicate field: it was already set above")
            else:
                self.places[path] = key_node.start_mark
                pairs[key] = value
        return list((merged | pairs).items())

    def _merged(self, node: yaml.Node, field: str) -> dict[str, yaml.Node]:
        """What `<<` brings in: of several mappings the first wins, and over all the keys beside it."""
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, field))
        if not isinstance(node, yaml.SequenceNode):
            self._mismatch(node, "a mapping or a list of mappings", _join(field, "<<"))
            return {}
        pairs: dict[str, yaml.Node] = {}
        for child in reversed(node.value):
            pairs |= self._merged(child, field)
        return pairs

    def _scalar(self, node: yaml.Node, kind: object, field: str) -> object:
        expected = _WORDS.get(kind, "a value")
        if not isinstance(node, yaml.ScalarNode):
            return self._mismatch(node, expected, field)
        value = self._plain(node, field)
        try:
            if kind is Seconds and isinstance(value, str):
                return durations.parse(value)
            if kind is bytes and isinstance(value, str):
                return base64.b64decode(value, validate=True)
        except (ValueError, binascii.Error) as error:
            return self._reject(field, str(error))
        if kind is float and type(value) is int:
            value = float(value)
        if kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        return value if type(value) is kind else self._mismatch(node, expected, field)

    def _plain(self, node: yaml.Node, field: str) -> object:
        """Untyped data, for arguments of plugins that only their authors know."""
        if isinstance(node, yaml.MappingNode):
            return {key: self._plain(value, _join(field, key)) for key, value in self._pairs(node, field)}
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(child, f"{field}[{i}]") for i, child in enumerate(node.value)]
        if node.tag == "tag:yaml.org,2002:timestamp":
            return node.value
        try:
            return self._scalars.construct_object(node)
        except (ValueError, yaml.YAMLError) as error:
            return self._reject(field, str(error))

    def _mismatch(self, node: yaml.Node, expected: str, field: str) -> object:
        found = repr(node.value)
        if not isinstance(node, yaml.ScalarNode):
            found = "a mapping" if isinstance(node, yaml.MappingNode) else "a list"
        return self._reject(field, f"expected {expected}, found {found}")

    def _reject(self, field: str, message: str) -> object:
        self.problem(field, message)
        return msgspec.UNSET


def encode(value: object, kind: object, api_version: str = "") -> object:
    """Plain data for YAML or JSON, keyed as upstream keys it.

    A struct leaves out what is None, and those of its fields listed in `omit` that are empty, as Go's
    `omitempty` does; a struct with a `kind` states it with `api_version`.
    """
    if isinstance(value, msgspec.Struct):
        plain = {
            key: encode(getattr(value, info.name), info.type, api_version)
            for key, info in struct_fields(type(value)).items()
            if not _omitted(value, key, info)
        }
        if hasattr(type(value), "kind") and api_version:
            plain |= {"apiVersion": api_version, "kind": type(value).kind}  # type: ignore[attr-defined]
        return plain
    kind = _without_none(kind)
    if isinstance(value, tuple | list):
        item_kind = next(iter(typing.get_args(kind)), object)
        return [encode(item, item_kind, api_version) for item in value]
    if kind is Seconds and isinstance(value, float | int):
        return durations.render(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _omitted(struct: msgspec.Struct, key: str, info: FieldInfo) -> bool:
    value = getattr(struct, info.name)
    if value is None:
        return True
    if struct.__struct_config__.omit_defaults:
        return bool(value == info.default)
    return key in getattr(type(struct), "omit", ()) and not value


@cache
def struct_fields(kind: type[msgspec.Struct]) -> Mapping[str, FieldInfo]:
    """A struct's fields by their name in the file."""
    return {info.encode_name: info for info in msgspec.structs.fields(kind)}


def _without_none(kind: object) -> object:
    if typing.get_origin(kind) in {typing.Union, types.UnionType}:
        kinds = [item for item in typing.get_args(kind) if item is not type(None)]
        return kinds[0] if len(kinds) == 1 else kind
    return kind


def _join(field: str, key: str) -> str:
    return f"{field}.{key}" if field else key
