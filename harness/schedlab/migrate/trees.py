"""Expressions in the documents of Chainsaw: in values everywhere, in keys of assertion trees."""

from __future__ import annotations

from dataclasses import replace

from schedlab.api.objects import Json
from schedlab.migrate.findings import Untranslatable
from schedlab.migrate.jmespath import translated
from schedlab.suite.expressions import ExpressionError, compiled, is_expression
from schedlab.suite.trees import SUBJECT, Key, parse


def values(tree: Json) -> Json:
    """A tree with the expressions in its values translated; they read bindings only.

    Raises:
        Untranslatable: one of them cannot be.
    """
    if isinstance(tree, dict):
        return {key: values(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [values(item) for item in tree]
    return expression(tree) if is_expression(tree) else tree


def assertions(tree: Json) -> Json:
    """An assertion tree with the expressions in its keys translated, too.

    Raises:
        Untranslatable: one of them cannot be.
    """
    if isinstance(tree, dict):
        return {_key(key): assertions(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [assertions(item) for item in tree]
    return expression(tree) if is_expression(tree) else tree


def expression(text: str, given: frozenset[str] = frozenset()) -> str:
    """One expression with its parentheses.

    Raises:
        Untranslatable: it cannot be translated, or reads what is not there.
    """
    found = f"({translated(text[1:-1])})"
    try:
        compiled(found, given)
    except ExpressionError as error:
        raise Untranslatable(f"{text} would be {found}: {error.message}") from error
    return found


def _key(text: str) -> str:
    key = parse(text)
    return _written(replace(key, what=expression(key.what, SUBJECT))) if key.computed else text


def _written(key: Key) -> str:
    each = f"~{key.index}." if key.each else ""
    return f"{each}{key.what}" + (f"->{key.name}" if key.name else "")
