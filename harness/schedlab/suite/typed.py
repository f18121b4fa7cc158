"""A document as a value of the type that its kind has."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from schedlab.suite import document
from schedlab.suite.document import Document
from schedlab.suite.positions import LoadError, Position, Problem, did_you_mean
from schedlab.suite.types import GROUP

T = TypeVar("T")


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
