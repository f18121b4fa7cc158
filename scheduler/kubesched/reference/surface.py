"""The public surface as text: every public name with its signature and type hints, as the code writes them.

Names come from `__all__`. Of a class: its own and inherited public fields, methods and properties as far as
kubesched defines them; what the standard library and msgspec add is theirs.
"""

from __future__ import annotations

import enum
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np

import kubesched.framework
import kubesched.testing
from kubesched.framework import API_VERSION
from kubesched.reference.attribute_docs import attribute_doc

MODULES: tuple[ModuleType, ...] = (kubesched.framework, kubesched.testing)
GIVEN = frozenset({"Cycle", "Diagnosis", "Handle", "NodeView", "Scores", "View"})
"""What a plugin is given and never makes: how it is made is private."""
_ADDRESS = re.compile(r"<(\S+) (?:object )?at 0x[0-9a-f]+>")


@dataclass(frozen=True, slots=True)
class Entry:
    """One public name: the line that declares it, what it says of itself, and its members likewise."""

    name: str
    declaration: str
    about: str
    members: tuple[Entry, ...] = ()

    def lines(self, indent: str = "") -> Iterator[str]:
        """Only the declarations."""
        yield indent + self.declaration
        for member in self.members:
            yield from member.lines(indent + "    ")


def signatures() -> str:
    """The whole surface without texts, under its version: what may not change by accident."""
    lines = [f"API_VERSION {API_VERSION}"]
    for module in MODULES:
        lines += ["", module.__name__]
        for entry in entries(module):
            lines += entry.lines("    ")
    return "\n".join(lines) + "\n"


def entries(module: ModuleType) -> list[Entry]:
    """The public names of a module in alphabetical order."""
    return [_entry(module, name) for name in sorted(module.__all__, key=str.lower)]


def _entry(module: ModuleType, name: str) -> Entry:
    value: object = getattr(module, name)
    if isinstance(value, type):
        bases = [base.__name__ for base in value.__bases__ if base is not object]
        head = f"class {name}({', '.join(bases)})" if bases else f"class {name}"
        return Entry(name, head, _about(value), tuple(_members(value)))
    if inspect.isfunction(value):
        return Entry(name, f"def {name}{_signature(value)}", _about(value))
    return Entry(name, f"{name} = {_shown(value)}", attribute_doc(name))


def _members(kind: type) -> Iterator[Entry]:
    if issubclass(kind, enum.Enum):
        yield from (Entry(member.name, f"{member.name} = {member.value!r}", "") for member in kind)
    elif kind.__name__ not in GIVEN and (constructor := _constructor(kind)):
        yield Entry("__init__", constructor, "")
    found: dict[str, Entry] = {}
    inherited = _told_elsewhere(kind)
    for owner in kind.__mro__:
        if owner.__module__.startswith("kubesched.") and owner not in inherited:
            found = {entry.name: entry for entry in _own(owner)} | found
    yield from found.values()


def _told_elsewhere(kind: type) -> set[type]:
    """The classes whose members stand at a public base of this one."""
    public = {getattr(module, name) for module in MODULES for name in module.__all__ if name != name.upper()}
    return {owner for base in kind.__mro__[1:] if base in public for owner in base.__mro__}


def _own(owner: type) -> Iterator[Entry]:
    """What one class defines, in the order in which it is written; fields first."""
    annotations = inspect.get_annotations(owner)
    for name, annotation in annotations.items():
        if not name.startswith("_"):
            yield Entry(name, f"{name}: {_written(annotation)}", "")
    for name, value in owner.__dict__.items():
        if not name.startswith("_") and name not in annotations:
            entry = _member(name, value)
            if entry is not None:
                yield entry


def _member(name: str, value: object) -> Entry | None:
    """A method or a property; fields are found by their annotations."""
    if isinstance(value, property) and value.fget is not None:
        return Entry(name, f"{name}: {_result(value.fget)}  # property", _about(value.fget))
    wrapped = getattr(value, "func", None) or getattr(value, "_work_out", None)
    if inspect.isfunction(wrapped):
        return Entry(name, f"{name}: {_result(wrapped)}  # property", _about(wrapped))
    prefix = ""
    if isinstance(value, staticmethod | classmethod):
        prefix, value = f"@{type(value).__name__} ", value.__func__
    if not inspect.isfunction(value):
        return None
    word = "async def" if inspect.iscoroutinefunction(value) else "def"
    return Entry(name, f"{prefix}{word} {name}{_signature(value)}", _about(value))


def _constructor(kind: type) -> str:
    """The constructor that kubesched defines, or nothing: of records the fields say enough."""
    written: object = next(
        (owner.__dict__["__init__"] for owner in kind.__mro__ if "__init__" in owner.__dict__), None
    )
    if not inspect.isfunction(written) or not written.__module__.startswith("kubesched."):
        return ""
    return f"def __init__{_signature(written)}".removesuffix(" -> None")


class _Written(str):
    """An annotation that is shown as the code writes it, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(function: Callable[..., object]) -> str:
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=_written(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    shown = signature.replace(parameters=parameters, return_annotation=_written(signature.return_annotation))
    return _ADDRESS.sub(r"<\1>", str(shown))


def _written(annotation: object) -> object:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    return _Written(annotation) if isinstance(annotation, str) else annotation


def _result(function: object) -> str:
    return str(getattr(function, "__annotations__", {}).get("return", "object"))


def _about(value: object) -> str:
    return inspect.getdoc(value) or ""


def _shown(value: object) -> str:
    if typing.get_origin(value) is np.ndarray:
        (number,) = typing.get_args(typing.get_args(value)[1])
        return f"NDArray[{number.__name__}]"
    return str(value) if typing.get_origin(value) else repr(value)
