"""Objects from files: YAML or JSON, one or several documents, lists, a directory, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from kubesched.api.objects import KINDS, Object, convert
from kubesched.explain.jsonl import InputError

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(source: str) -> Iterator[Object]:
    """The objects of a file, of all YAML and JSON files under a directory in name order, or of `-`.

    Kinds that no scheduler reads are passed over. Raises InputError naming file and document.
    """
    if source == "-":
        yield from _documents("<stdin>", sys.stdin.read())
        return
    path = Path(source)
    files = sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{source}: no .yaml, .yml or .json file in this directory")
    for file in files:
        try:
            text = file.read_text()
        except OSError as error:
            raise InputError(f"{file}: {error.strerror}") from error
        yield from _documents(str(file), text)


def _documents(name: str, text: str) -> Iterator[Object]:
    try:
        for number, document in enumerate(yaml.load_all(text, Loader=_Loader), start=1):
            yield from _objects(document, f"{name}: document {number}")
    except yaml.YAMLError as error:
        raise InputError(f"{name}: {error}") from error


def _objects(document: object, where: str) -> Iterator[Object]:
    if document is None:
        return
    if isinstance(document, list):
        for item in document:
            yield from _objects(item, where)
        return
    if not isinstance(document, Mapping) or not isinstance(document.get("kind"), str):
        raise InputError(f"{where}: an object with `kind` is expected")
    kind = document["kind"]
    if kind == "List" or (kind.endswith("List") and "items" in document):
        yield from _items(document, kind, where)
    elif kind in KINDS:
        try:
            yield convert(document)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from error


def _items(document: Mapping[str, Any], kind: str, where: str) -> Iterator[Object]:
    """The items of a list; those of a typed list need not repeat their kind."""
    for item in document.get("items") or ():
        if isinstance(item, Mapping) and "kind" not in item and kind != "List":
            item = {"kind": kind.removesuffix("List"), **item}  # noqa: PLW2901 - the same item, completed
        yield from _objects(item, where)
