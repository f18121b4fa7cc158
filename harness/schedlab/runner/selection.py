"""Which tests to run: by label and by name, in Kubernetes' and Chainsaw's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from schedlab.errors import UsageError

Requirement = Callable[[Mapping[str, str]], bool]

_SET = re.compile(r"^(?P<key>[^\s!=,()]+)\s+(?P<verb>in|notin)\s+\((?P<values>[^)]*)\)$")
_EQUAL = re.compile(r"^(?P<key>[^\s!=,()]+)\s*(?P<verb>==|=|!=)\s*(?P<value>[^\s!=,()]*)$")
_EXISTS = re.compile(r"^(?P<absent>!?)\s*(?P<key>[^\s!=,()]+)$")


def selector(text: str) -> Requirement:
    """A label selector as kubectl takes it: `area=filters,tier!=slow,plugin in (A,B),!flaky`.

    Raises:
        UsageError: it is not one.
    """
    requirements = [_requirement(part.strip()) for part in _parts(text) if part.strip()]
    return lambda labels: all(requirement(labels) for requirement in requirements)


def _parts(text: str) -> list[str]:
    """Split at commas outside parentheses."""
    return re.split(r",(?![^()]*\))", text)


def _requirement(part: str) -> Requirement:
    if match := _SET.match(part):
        key, values = match["key"], {value.strip() for value in match["values"].split(",")}
        wanted = match["verb"] == "in"
        return lambda labels: (labels.get(key) in values) == wanted
    if match := _EQUAL.match(part):
        key, value = match["key"], match["value"]
        wanted = match["verb"] != "!="
        return lambda labels: (labels.get(key) == value) == wanted
    if match := _EXISTS.match(part):
        key, wanted = match["key"], not match["absent"]
        return lambda labels: (key in labels) == wanted
    raise UsageError(
        f"{part!r} is not a label requirement", hint="write key=value, key!=value, key in (a,b), key or !key"
    )


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression for test ids.

    Raises:
        UsageError: it is not one.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"{text!r} is not a regular expression: {error}") from error
