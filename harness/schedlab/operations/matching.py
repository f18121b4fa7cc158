"""Partial matching: an object matches what is asked of it if it has all that is asked; more is no harm.

The order of lists does not matter: each element that is asked for must be found in one element of its own.
Kubernetes keeps most lists under a key (conditions by `type`, containers by `name`); that key picks the
element that a mismatch is explained with. `exact` asks for lists of the same length in the same order.

In an assertion tree keys may be computed (`schedlab.suite.trees`); that is on where there are bindings to
compute with, and off for partial objects that are plain data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedlab.api.objects import Json
from schedlab.suite.expressions import ExpressionError, compiled, substitute
from schedlab.suite.trees import SUBJECT, Key, parse

MERGE_KEYS = ("type", "name", "topologyKey", "key", "containerPort", "port", "mountPath", "ip", "uid")

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A place where an object is not what was asked."""

    path: str
    expected: str
    seen: str

    def __str__(self) -> str:
        return f"{self.path or 'the object'}: expected {self.expected}, seen {self.seen}"


def mismatches(
    expected: Json,
    seen: Json,
    *,
    exact: bool = False,
    path: str = "",
    bindings: Mapping[str, Json] | None = None,
) -> Iterator[Mismatch]:
    """Where `seen` lacks something of `expected`; nothing if it matches.

    With `bindings`, `expected` is an assertion tree: its expressions are evaluated as they are met.
    """
    yield from _Matcher(exact, bindings).compare(expected, seen, path)


def matches(
    expected: Json, seen: Json, *, exact: bool = False, bindings: Mapping[str, Json] | None = None
) -> bool:
    """True if `seen` has all of `expected`."""
    return _Matcher(exact, bindings).fits(expected, seen)


def shown(value: Json) -> str:
    """A value for people, shortened."""
    if value is _ABSENT:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


@dataclass(frozen=True, slots=True)
class _Matcher:
    """The rules of one comparison, with the bindings in force at the place it has got to."""

    exact: bool
    bindings: Mapping[str, Json] | None

    def fits(self, expected: Json, seen: Json) -> bool:
        return next(self.compare(expected, seen, ""), None) is None

    def compare(self, expected: Json, seen: Json, path: str) -> Iterator[Mismatch]:
        if self.bindings is not None and isinstance(expected, str):
            expected = substitute(expected, self.bindings)
        if isinstance(expected, dict):
            yield from self._mapping(expected, seen, path)
        elif isinstance(expected, list):
            yield from self._list(expected, seen, path)
        elif expected is None:
            if seen is not _ABSENT and seen is not None:
                yield Mismatch(path, "nothing", shown(seen))
        elif not _equal(expected, seen):
            yield Mismatch(path, shown(expected), shown(seen))

    def _mapping(self, expected: dict[str, Json], seen: Json, path: str) -> Iterator[Mismatch]:
        keys = {key: parse(key) if self.bindings is not None else Key(key) for key in expected}
        if not isinstance(seen, dict) and not (expected and all(key.computed for key in keys.values())):
            if expected or seen is not _ABSENT:
                yield Mismatch(path, "a mapping", shown(seen))
            return
        for written, value in expected.items():
            yield from self._entry(keys[written], value, seen, f"{path}.{written}" if path else written)

    def _entry(self, key: Key, expected: Json, seen: Json, path: str) -> Iterator[Mismatch]:
        """One key of a mapping: what it finds must match, or each element of that."""
        try:
            found = self._found(key, seen)
        except ExpressionError as error:
            yield Mismatch(path, shown(expected), error.message)
            return
        inner = self.binding(key.name, found)
        if not key.each:
            yield from inner.compare(expected, found, path)
            return
        if not isinstance(found, list | dict):
            yield Mismatch(path, "a list or a mapping", shown(found))
            return
        for at, item in found.items() if isinstance(found, dict) else enumerate(found):
            yield from inner.binding(key.index, at).compare(expected, item, f"{path}[{at}]")

    def _found(self, key: Key, seen: Json) -> Json:
        if self.bindings is None or not key.computed:
            return seen.get(key.what, _ABSENT)
        given = None if seen is _ABSENT else seen
        return compiled(key.what, SUBJECT).evaluate(self.bindings, {"object": given})

    def binding(self, name: str, value: Json) -> _Matcher:
        """The same rules with one more name for what is below."""
        if not name:
            return self
        known = None if value is _ABSENT else value
        return _Matcher(self.exact, {**(self.bindings or {}), name: known})

    def _list(self, expected: list[Json], seen: Json, path: str) -> Iterator[Mismatch]:
        present = [] if seen is _ABSENT or seen is None else seen
        if not isinstance(present, list):
            yield Mismatch(path, "a list", shown(seen))
            return
        if self.exact or not expected:
            if len(present) != len(expected):
                yield Mismatch(path, f"{len(expected)} elements", f"{len(present)}: {shown(present)}")
                return
            for index, (wanted, found) in enumerate(zip(expected, present, strict=True)):
                yield from self.compare(wanted, found, f"{path}[{index}]")
            return
        unmatched = self._unmatched(expected, present)
        if unmatched is not None:
            yield from self._explained(expected[unmatched], present, f"{path}[{unmatched}]")

    def _unmatched(self, expected: Sequence[Json], present: Sequence[Json]) -> int | None:
        """The index of an element for which none is left, or None; by augmenting paths."""
        fits = [[at for at, item in enumerate(present) if self.fits(wanted, item)] for wanted in expected]
        taken: dict[int, int] = {}

        def place(index: int, tried: set[int]) -> bool:
            for at in fits[index]:
                if at in tried:
                    continue
                tried.add(at)
                if at not in taken or place(taken[at], tried):
                    taken[at] = index
                    return True
            return False

        for index in range(len(expected)):
            if not place(index, set()):
                return index
        return None

    def _explained(self, expected: Json, present: list[Json], path: str) -> Iterator[Mismatch]:
        """Why no element fits: against the one with the same key, if there is one."""
        for key in MERGE_KEYS:
            if not isinstance(expected, dict) or key not in expected:
                continue
            for item in present:
                if isinstance(item, dict) and item.get(key) == expected[key]:
                    found = list(self.compare(expected, item, f"{path}({key}={expected[key]})"))
                    if found:
                        yield from found
                        return
        yield Mismatch(path, f"an element like {shown(expected)}", shown(present))


def _equal(expected: Json, seen: Json) -> bool:
    """Equal, and not merely equal in Python: 1 is not true."""
    if isinstance(expected, bool) != isinstance(seen, bool):
        return False
    return bool(expected == seen)
