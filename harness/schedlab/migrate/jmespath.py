"""Chainsaw's expressions in JMESPath as CEL, as far as they mean the same.

Paths, indices, filters, projections, pipes, comparisons, logic, arithmetic and some functions. What has no
counterpart is refused: an assertion that almost means what it did is worse than one that is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from schedlab.migrate.findings import Untranslatable

_TOKEN = re.compile(
    r"""\s*(?:(?P<raw>'(?:\\.|[^'\\])*')|(?P<json>`(?:\\.|[^`\\])*`)|(?P<quoted>"(?:\\.|[^"\\])*")
    |(?P<number>\d+(?:\.\d+)?)|(?P<binding>\$[A-Za-z_]\w*)|(?P<name>[A-Za-z_]\w*)
    |(?P<op>\[\?|\[\*\]|&&|\|\||==|!=|<=|>=|[.\[\](),<>!|@*+\-/]))""",
    re.VERBOSE,
)
_BINARY = {
    "|": 1, "||": 2, "&&": 3, "==": 5, "!=": 5, "<": 5, "<=": 5, ">": 5, ">=": 5,
    "+": 6, "-": 6, "*": 7, "/": 7,
}  # fmt: skip
_TEXTS = frozenset({"$stdout", "$stderr", "$error"})


def translated(expression: str, subject: str = "object") -> str:
    """An expression without its parentheses, in CEL; `subject` is what paths start from.

    Raises:
        Untranslatable: it uses what CEL does not have, or is no JMESPath.
    """
    parser = _Parser(_tokens(expression))
    found = parser.expression(subject, 0)
    if parser.peek() != ("", ""):
        raise Untranslatable(f"{parser.peek()[1]!r} was not expected in {expression}")
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise Untranslatable(f"{text[position:].strip()[:20]!r} cannot be read")
        found.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return found


class _Parser:
    """A parser by precedence that writes CEL as it goes."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._names = 0

    def peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("", "")

    def _next(self) -> tuple[str, str]:
        token = self.peek()
        self._at += 1
        return token

    def _want(self, text: str) -> None:
        kind, found = self._next()
        if (kind, found) != ("op", text):
            raise Untranslatable(f"{text!r} was expected, not {found!r}")

    def expression(self, subject: str, level: int) -> str:
        """An expression of operators that bind more tightly than `level`."""
        left = self._postfix(self._primary(subject))
        while (operator := self.peek()) and operator[0] == "op" and _BINARY.get(operator[1], 0) > level:
            self._next()
            if operator[1] == "|":
                left = self.expression(left, 1)
                continue
            right = self.expression(subject, _BINARY[operator[1]])
            left = _compared(left, operator[1], right)
        return left

    def _primary(self, subject: str) -> str:
        kind, text = self._next()
        literal = _LITERALS.get(kind)
        if literal is not None:
            return literal(text)
        if kind == "name" and self.peek() == ("op", "("):
            return self._call(text, subject)
        if kind == "name":
            return text if text in ("null", "true", "false") else _field(subject, text)
        if kind == "quoted":
            return _field(subject, str(json.loads(text)))
        if kind == "op":
            return self._operator(text, subject)
        raise Untranslatable("the expression ends too early")

    def _operator(self, text: str, subject: str) -> str:
        if text == "@":
            return subject
        if text == "!":
            return f"!({self._postfix(self._primary(subject))})"
        if text == "(":
            inner = self.expression(subject, 0)
            self._want(")")
            return f"({inner})"
        if text in ("[?", "[*]"):
            self._at -= 1
            return self._postfix(subject)
        if text == "[":
            return self._bracket(subject)
        raise Untranslatable(f"{text!r} has no counterpart")

    def _bracket(self, subject: str) -> str:
        """`[0]` of the subject, or a list of expressions."""
        if self.peek()[0] == "number":
            self._at -= 1
            return self._postfix(subject)
        items = [self.expression(subject, 0)]
        while self.peek() == ("op", ","):
            self._next()
            items.append(self.expression(subject, 0))
        self._want("]")
        return f"[{', '.join(items)}]"

    def _postfix(self, base: str) -> str:
        """Fields, indices, filters and projections of a value."""
        while self.peek() in (("op", "."), ("op", "["), ("op", "[?"), ("op", "[*]")):
            _, text = self._next()
            if text == ".":
                base = _field(base, self._field_name())
            elif text == "[":
                kind, number = self._next()
                if kind != "number":
                    raise Untranslatable(f"[{number}] is neither an index nor a filter")
                self._want("]")
                base = f"{base}[{number}]"
            else:
                return self._projection(base, filtered=text == "[?")
        return base

    def _field_name(self) -> str:
        kind, text = self._next()
        if kind not in ("name", "quoted"):
            raise Untranslatable(f"after a dot {text!r} has no counterpart")
        return text if kind == "name" else str(json.loads(text))

    def _projection(self, base: str, *, filtered: bool) -> str:
        """A filter, and what follows it as a map over its elements."""
        self._names += 1
        name = f"i{self._names}"
        if filtered:
            condition = self.expression(name, 0)
            self._want("]")
            base = f"{base}.filter({name}, {condition})"
        rest = self._postfix(name)
        return base if rest == name else f"{base}.map({name}, {rest})"

    def _call(self, function: str, subject: str) -> str:
        self._want("(")
        arguments: list[str] = []
        while self.peek() != ("op", ")"):
            arguments.append(self.expression(subject, 0))
            if self.peek() != ("op", ")"):
                self._want(",")
        self._want(")")
        return _function(function, arguments)


_LITERALS: dict[str, Callable[[str], str]] = {
    "raw": lambda text: json.dumps(text[1:-1].replace("\\'", "'")),
    "json": lambda text: json.dumps(json.loads(text[1:-1].replace("\\`", "`"))),
    "number": str,
    "binding": str,
}


def _field(subject: str, name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_]\w*", name) is not None
    return f"{subject}.{name}" if plain else f"{subject}[{json.dumps(name)}]"


def _compared(left: str, operator: str, right: str) -> str:
    """Both sides; JMESPath's null for a field that is not there is CEL's `has`."""
    if "null" in (left, right) and operator in ("==", "!="):
        path = right if left == "null" else left
        if re.fullmatch(r"[\w.\[\]]+\.\w+", path):
            return f"has({path})" if operator == "!=" else f"!has({path})"
    return f"{left} {operator} {right}"


_FUNCTIONS: dict[tuple[str, int], Callable[..., str]] = {
    ("length", 1): lambda value: f"size({value})",
    ("starts_with", 2): lambda text, start: f"{text}.startsWith({start})",
    ("ends_with", 2): lambda text, end: f"{text}.endsWith({end})",
    ("to_string", 1): lambda value: f"string({value})",
    ("to_number", 1): lambda value: f"double({value})",
}


def _function(name: str, arguments: list[str]) -> str:
    if found := _FUNCTIONS.get((name, len(arguments))):
        return found(*arguments)
    if name == "contains" and len(arguments) == 2:
        whole, part = arguments
        if whole in _TEXTS:
            return f"{whole}.contains({part})"
        if whole.startswith("["):
            return f"{part} in {whole}"
    if name == "join" and len(arguments) == 2 and arguments[1].startswith("["):
        return f" + {arguments[0]} + ".join(arguments[1][1:-1].split(", "))
    raise Untranslatable(f"{name}({', '.join(arguments)}) has no counterpart")
