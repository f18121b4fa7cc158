"""`(expr)` in a test is CEL, Kubernetes' own expression language; all other text is text.

A thin adapter over cel-expr-python, so that another implementation could take its place: `$name` in an
expression is a binding, everything else is CEL. A text that only looks like an expression is written with a
leading backslash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cel_expr_python import cel

from schedlab.api.objects import Json
from schedlab.errors import UsageError

NOTHING: Mapping[str, Json] = {}

_PREFIX = "v_"  # `$namespace` must not become CEL's reserved word
_TOKEN = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\$([A-Za-z_][A-Za-z0-9_]*)""")


class ExpressionError(UsageError):
    """An expression that does not compile, or has no value."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression and the bindings it reads."""

    text: str
    names: frozenset[str]
    program: Any
    reads: frozenset[str] = frozenset()
    """Which of the given variables its text mentions; the others need not be converted for it."""

    def evaluate(self, bindings: Mapping[str, Any], given: Mapping[str, Json] = NOTHING) -> Json:
        """The value, as plain Python data; `given` are the variables that it was compiled with.

        Raises:
            ExpressionError: a binding is missing, an index is out of range, a key is absent, types do not
            fit.
        """
        missing = sorted(self.names - set(bindings))
        if missing:
            raise ExpressionError(f"{self.text}: ${missing[0]} is not bound", hint=known(bindings))
        data = {_PREFIX + name: bindings[name] for name in self.names}
        data |= {name: given[name] for name in self.reads}
        value = self.program.eval(data=data)
        if value.type() == cel.Type.ERROR:
            raise ExpressionError(f"{self.text}: {value.plain_value()}", hint=shown(self.names, bindings))
        return value.plain_value()


def is_expression(text: object) -> bool:
    """True for text in parentheses."""
    return isinstance(text, str) and len(text) > 2 and text.startswith("(") and text.endswith(")")


@lru_cache(maxsize=4096)
def compiled(text: str, given: frozenset[str] = frozenset()) -> Expression:
    """Compile `(expr)`; `given` names the variables that it may read besides bindings.

    Raises:
        ExpressionError: with CEL's own explanation.
    """
    inner = text[1:-1]
    names = frozenset(match.group(2) for match in _TOKEN.finditer(inner) if match.group(2))
    source = _TOKEN.sub(lambda match: match.group(1) or _PREFIX + match.group(2), inner)
    variables = {_PREFIX + name for name in names} | given
    environment = cel.NewEnv(variables=dict.fromkeys(variables, cel.Type.DYN))
    try:
        program = environment.compile(source)
    except RuntimeError as error:
        raise ExpressionError(
            f"{text} is not an expression: {_reason(str(error))}",
            hint=r"text in parentheses is CEL; write \( at its start if it is meant as text",
        ) from error
    reads = frozenset(re.findall(r"\w+", inner)) & given
    return Expression(text=text, names=names, program=program, reads=reads)


def _reason(explanation: str) -> str:
    """The first of CEL's complaints; without its place, which counts in what CEL reads, not in the file."""
    found = [line.split("\n")[0] for line in explanation.split("ERROR: <input>:")[1:]] or [explanation]
    placed = [line for line in found if not line.startswith("-1:")] or found
    return re.sub(r"^-?\d+:-?\d+: ", "", placed[0]).replace(_PREFIX, "$")


def substitute(tree: Json, bindings: Mapping[str, Any]) -> Json:
    """A copy of `tree` with every expression in it replaced by its value.

    Raises:
        ExpressionError: one of them has none.
    """
    if isinstance(tree, dict):
        return {key: substitute(value, bindings) for key, value in tree.items()}
    if isinstance(tree, list):
        return [substitute(value, bindings) for value in tree]
    if is_expression(tree):
        return compiled(tree).evaluate(bindings)
    if isinstance(tree, str) and tree.startswith("\\("):
        return tree[1:]
    return tree


def known(bindings: Mapping[str, Any]) -> str:
    """Which bindings there are, for a hint."""
    return "bound here: " + (", ".join(f"${name}" for name in sorted(bindings)) or "nothing")


def shown(names: frozenset[str], bindings: Mapping[str, Any]) -> str:
    """What the bindings of an expression held, shortened."""
    return ", ".join(f"${name} = {_short(bindings[name])}" for name in sorted(names))


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
