"""Partial matching: an object matches what is asked of it if it has all that is asked; more is no harm.

The order of lists does not matter: each element that is asked for must be found in one element of its own.
Kubernetes keeps most lists under a key (conditions by `type`, containers by `name`); that key picks the
element that a mismatch is explained with. `exact` asks for lists of the same length in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedlab.api.objects import Json

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


def mismatches(expected: Json, seen: Json, *, exact: bool = False, path: str = "") -> Iterator[Mismatch]:
    """Where `seen` lacks something of `expected`; nothing if it matches."""
    if isinstance(expected, dict):
        yield from _mapping(expected, seen, exact, path)
    elif isinstance(expected, list):
        yield from _list(expected, seen, exact, path)
    elif expected is None:
        if seen is not _ABSENT and seen is not None:
            yield Mismatch(path, "nothing", shown(seen))
    elif not _equal(expected, seen):
        yield Mismatch(path, shown(expected), shown(seen))


def matches(expected: Json, seen: Json, *, exact: bool = False) -> bool:
    """True if `seen` has all of `expected`."""
    return next(mismatches(expected, seen, exact=exact), None) is None


def shown(value: Json) -> str:
    """A value for people, shortened."""
    if value is _ABSENT:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _equal(expected: Json, seen: Json) -> bool:
    """Equal, and not merely equal in Python: 1 is not true."""
    if isinstance(expected, bool) != isinstance(seen, bool):
        return False
    return bool(expected == seen)


def _mapping(expected: dict[str, Json], seen: Json, exact: bool, path: str) -> Iterator[Mismatch]:
    if not isinstance(seen, dict):
        if expected or seen is not _ABSENT:
            yield Mismatch(path, "a mapping", shown(seen))
        return
    for key, value in expected.items():
        below = f"{path}.{key}" if path else key
        yield from mismatches(value, seen.get(key, _ABSENT), exact=exact, path=below)


def _list(expected: list[Json], seen: Json, exact: bool, path: str) -> Iterator[Mismatch]:
    present = [] if seen is _ABSENT or seen is None else seen
    if not isinstance(present, list):
        yield Mismatch(path, "a list", shown(seen))
        return
    if exact or not expected:
        if len(present) != len(expected):
            yield Mismatch(path, f"{len(expected)} elements", f"{len(present)}: {shown(present)}")
            return
        for index, (wanted, found) in enumerate(zip(expected, present, strict=True)):
            yield from mismatches(wanted, found, exact=exact, path=f"{path}[{index}]")
        return
    unmatched = _unmatched(expected, present)
    if unmatched is not None:
        yield from _explained(expected[unmatched], present, f"{path}[{unmatched}]")


def _unmatched(expected: Sequence[Json], present: Sequence[Json]) -> int | None:
    """The index of an element for which none is left, or None; by augmenting paths over what fits what."""
    fits = [[at for at, item in enumerate(present) if matches(wanted, item)] for wanted in expected]
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


def _explained(expected: Json, present: list[Json], path: str) -> Iterator[Mismatch]:
    """Why no element fits: against the one with the same key, if there is one."""
    for key in MERGE_KEYS:
        if not isinstance(expected, dict) or key not in expected:
            continue
        for item in present:
            if isinstance(item, dict) and item.get(key) == expected[key]:
                found = list(mismatches(expected, item, path=f"{path}({key}={expected[key]})"))
                if found:
                    yield from found
                    return
    yield Mismatch(path, f"an element like {shown(expected)}", shown(present))
