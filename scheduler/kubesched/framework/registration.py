"""What a plugin can do is read off its methods once, and checked before the first pod.

A missing method, a wrong parameter, a sync method where an async one is needed, an unknown event: each is an
error that names the plugin and the method. A per-node plugin is wrapped here into the vector protocols;
nothing else knows of it.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from kubesched.framework.interface import Plugin
from kubesched.framework.per_node import NodeFilterAdapter, NodeScoreAdapter


class RegistrationError(ValueError):
    """A plugin does not keep the contract of an extension point."""


@dataclass(frozen=True, slots=True)
class _Method:
    """A method of the contract: its name, its parameters after self, and whether it is awaited."""

    name: str
    parameters: tuple[str, ...]
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class _Point:
    """An extension point: its name in the configuration and the methods that make it up."""

    name: str
    methods: tuple[_Method, ...]


_POINTS = (
    _Point("pre_enqueue", (_Method("pre_enqueue", ("pod",)),)),
    _Point("queue_sort", (_Method("less", ("left", "right")),)),
    _Point("pre_filter", (_Method("pre_filter", ("cycle",)),)),
    _Point("filter", (_Method("filter", ("cycle", "view")), _Method("status", ("cycle", "code")))),
    _Point("filter_node", (_Method("filter_node", ("cycle", "node")),)),
    _Point("post_filter", (_Method("post_filter", ("cycle", "diagnosis")),)),
    _Point("pre_score", (_Method("pre_score", ("cycle", "view")),)),
    _Point("score", (_Method("score", ("cycle", "view")),)),
    _Point("score_node", (_Method("score_node", ("cycle", "node")),)),
    _Point("normalize", (_Method("normalize", ("cycle", "view", "raw")),)),
    _Point("sign", (_Method("sign", ("pod",)),)),
    _Point(
        "reserve",
        (_Method("reserve", ("cycle", "node_name")), _Method("unreserve", ("cycle", "node_name"))),
    ),
    _Point("permit", (_Method("permit", ("cycle", "node_name")),)),
    _Point(
        "pre_bind",
        (
            _Method("pre_bind_pre_flight", ("cycle", "node_name")),
            _Method("pre_bind", ("cycle", "node_name"), is_async=True),
        ),
    ),
    _Point("bind", (_Method("bind", ("cycle", "node_name"), is_async=True),)),
    _Point("post_bind", (_Method("post_bind", ("cycle", "node_name"), is_async=True),)),
    _Point("events_to_register", (_Method("events_to_register", ()),)),
)
_METHODS = frozenset(method.name for point in _POINTS for method in point.methods)


@dataclass(frozen=True, slots=True)
class Registered:
    """A checked plugin: `points` maps an extension point to the object that serves it."""

    name: str
    plugin: Plugin
    points: dict[str, Any]


def register(plugin: Plugin) -> Registered:
    """Check the plugin against the contract and wrap what looks at one node at a time.

    Raises RegistrationError, which names the plugin, the method and what is expected of it.
    """
    kind = type(plugin)
    name = getattr(plugin, "name", None)
    if not isinstance(name, str) or not name:
        raise RegistrationError(f"plugin {kind.__name__}: needs a class attribute `name`, a non-empty str")
    points: dict[str, Any] = dict.fromkeys(_points_of(kind, name), plugin)
    _wrap(name, plugin, points)
    return Registered(name, plugin, points)


@cache
def _points_of(kind: type, name: str) -> tuple[str, ...]:
    """The extension points that the class serves; a class is looked at once."""
    points = []
    for point in _POINTS:
        if not hasattr(kind, point.methods[0].name) and not _has_own(kind, point):
            continue
        for method in point.methods:
            _check(kind, name, point, method)
        points.append(point.name)
    _check_misspelt(kind, name)
    if not set(points) - {"events_to_register", "normalize", "sign"}:
        raise RegistrationError(f'plugin "{name}": implements no extension point; it may define {_listed()}')
    return tuple(points)


def _has_own(kind: type, point: _Point) -> bool:
    """Whether a later method of the point is there; `status` alone says nothing, it is a common word."""
    return any(hasattr(kind, method.name) for method in point.methods[1:] if method.name != "status")


def _check(kind: type, name: str, point: _Point, method: _Method) -> None:
    where = f'plugin "{name}": {point.name} needs the method {_signature(method)}'
    function = getattr(kind, method.name, None)
    if function is None:
        raise RegistrationError(f"{where}, which is missing")
    if not callable(function):
        raise RegistrationError(f"{where}, but {method.name} is {type(function).__name__}")
    if inspect.iscoroutinefunction(function) is not method.is_async:
        raise RegistrationError(f"{where}, but it is {'not ' if method.is_async else ''}async")
    bound = isinstance(inspect.getattr_static(kind, method.name), staticmethod | classmethod)
    arguments = method.parameters if bound else ("self", *method.parameters)
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise RegistrationError(f"{where}: {error}") from None


def _signature(method: _Method) -> str:
    return f"{'async ' if method.is_async else ''}{method.name}({', '.join(('self', *method.parameters))})"


def _check_misspelt(kind: type, name: str) -> None:
    """A public method that nearly has a contract's name would never be called: say so."""
    for attribute, _ in inspect.getmembers(kind, inspect.isfunction):
        if attribute.startswith("_") or attribute in _METHODS:
            continue
        folded = attribute.replace("_", "").lower()
        near = [method for method in _METHODS if method.replace("_", "") == folded]
        if near or (near := difflib.get_close_matches(attribute, _METHODS, n=1, cutoff=0.9)):
            raise RegistrationError(
                f'plugin "{name}": method {attribute} belongs to no extension point; {near[0]} is meant?'
            )


def _wrap(name: str, plugin: Plugin, points: dict[str, Any]) -> None:
    wrappers: tuple[tuple[str, str, Callable[[Any], object]], ...] = (
        ("filter_node", "filter", NodeFilterAdapter),
        ("score_node", "score", NodeScoreAdapter),
    )
    for single, vector, adapter in wrappers:
        if points.pop(single, None) is None:
            continue
        if vector in points:
            raise RegistrationError(f'plugin "{name}": define {single} or {vector}, not both')
        if "sign" in points:
            raise RegistrationError(f'plugin "{name}": sign goes with {vector}, not with {single}')
        points[vector] = adapter(plugin)


def _listed() -> str:
    return ", ".join(
        sorted(method for method in _METHODS if method not in {"status", "normalize", "sign", "unreserve"})
    )
