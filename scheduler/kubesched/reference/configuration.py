"""docs/configuration.md: every field of the configuration file, of plugin arguments, and of explain's answer.

Made from the types that read and write them; a struct's docstring is its text.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from functools import cache

import msgspec

from kubesched.config import durations
from kubesched.config.args import ARGS, Seconds
from kubesched.config.codec import struct_fields
from kubesched.config.defaults import default_configuration, default_plugins
from kubesched.config.gates import FeatureGates
from kubesched.config.types import API_VERSION, KubeSchedulerConfiguration, RawArgs
from kubesched.explain.explanation import Explanation, Feasible, Infeasible, Preemption

_HEAD = f"""\
<!-- Made by `python -m kubesched.reference configuration` from the types. -->
# The configuration file

kubesched reads kube-scheduler's `{API_VERSION}`: the fields, defaults and rules are the same. Unknown
fields, wrong types and values out of range are start-up errors with line, column and field;
[wrong-configurations.md](wrong-configurations.md) shows both schedulers' answers side by side.
`kubesched --write-config-to FILE` writes what is in force, with every default filled in.
"""
_WORDS: dict[object, str] = {
    str: "text", int: "integer", float: "number", bool: "true or false", bytes: "base64 text",
    Seconds: "duration", RawArgs: "the plugin's arguments", object: "anything",
}  # fmt: skip


def page() -> str:
    """The whole page."""
    return (
        "\n".join([_HEAD, *_sections(KubeSchedulerConfiguration, set()), *_plugins(), *_answer()]).rstrip()
        + "\n"
    )


def _plugins() -> Iterator[str]:
    yield "# Default plugins\n"
    yield "In the order in which they run; a weight counts for scoring.\n"
    yield "| plugin | weight | arguments |\n| --- | --- | --- |"
    for plugin in default_plugins(FeatureGates()).multi_point.enabled:
        args = f"[{plugin.name}Args](#{plugin.name.lower()}args)" if plugin.name in ARGS else ""
        yield f"| {plugin.name} | {plugin.weight or ''} | {args} |"
    yield "\n# Arguments of plugins\n"
    yield "They stand in `profiles[].pluginConfig[]`, as `{name: PLUGIN, args: {…}}`.\n"
    seen: set[type[msgspec.Struct]] = set()
    for name in sorted(ARGS):
        yield from _sections(ARGS[name], seen)


def _answer() -> Iterator[str]:
    yield "# The answer of explain\n"
    yield (
        "`kubesched explain -o json` prints one object per pod. Its JSON schema is the package's file "
        "`explain/schema.json`.\n"
    )
    for kind in (Explanation, Feasible, Infeasible, Preemption):
        yield from _one(kind)


def _sections(kind: type[msgspec.Struct], seen: set[type[msgspec.Struct]]) -> Iterator[str]:
    """A struct and those that it is made of, each once."""
    if kind in seen:
        return
    seen.add(kind)
    yield from _one(kind)
    for field in struct_fields(kind).values():
        for inner in _structs(field.type):
            yield from _sections(inner, seen)


def _one(kind: type[msgspec.Struct]) -> Iterator[str]:
    yield f"## {kind.__name__}\n"
    yield f"{(kind.__doc__ or '').strip()}\n".replace("\n    ", "\n")
    yield "| field | type | default |\n| --- | --- | --- |"
    for name, field in struct_fields(kind).items():
        yield f"| `{name}` | {_type(field.type)} | {_default(kind, name, field)} |"
    yield ""


def _default(kind: type[msgspec.Struct], name: str, field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    if name == "profiles":
        return "one, `default-scheduler`, with the default plugins"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    if kind in _in_force():
        value = getattr(_in_force()[kind], field.name)
    if isinstance(value, msgspec.Struct):
        return "its defaults"
    if value in (None, msgspec.UNSET, "", b"", (), [], {}):
        return ""
    if Seconds in _alternatives(field.type):
        return f"`{durations.render(value)}`"
    return f"`{msgspec.json.encode(value).decode()}`"


@cache
def _in_force() -> dict[type[msgspec.Struct], msgspec.Struct]:
    """What is decided only when a configuration is complete: the whole of it, and plugin arguments."""
    config = default_configuration()
    args: list[object] = [item.args for item in config.profiles[0].plugin_config]
    return {type(item): item for item in (config, *args) if isinstance(item, msgspec.Struct)}


def _type(kind: object) -> str:
    found = [_word(item) for item in _alternatives(kind)]
    return " or ".join(found)


def _word(kind: object) -> str:
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(f"`{value}`" for value in typing.get_args(kind))
    if typing.get_origin(kind) in (tuple, list):
        return f"list of {_type(typing.get_args(kind)[0])}"
    if typing.get_origin(kind) is not None:
        return f"mapping to {_type(typing.get_args(kind)[-1])}"
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    return _WORDS[kind]


def _alternatives(kind: object) -> list[object]:
    """The types of a union without None and UNSET; any other type is its own."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return [item for item in typing.get_args(kind) if item not in (type(None), msgspec.UnsetType)]
    return [kind]


def _structs(kind: object) -> Iterator[type[msgspec.Struct]]:
    for item in _alternatives(kind):
        if isinstance(item, type) and issubclass(item, msgspec.Struct):
            yield item
        elif typing.get_origin(item) is not typing.Literal:
            for inner in typing.get_args(item):
                yield from _structs(inner)
