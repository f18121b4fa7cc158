"""Reads the structured lines of a Kubernetes component's text log.

A line is a header, a quoted message, and `key=value` pairs, as k8s.io/klog writes them:
`I1120 23:28:33.269246 23982 schedule_one.go:982] "Plugin scored node for pod" pod="ns/p" score=300`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_HEADER = re.compile(r'[IWEF]\d{4} [\d:.]+ +\d+ [^\]]+\] "((?:[^"\\]|\\.)*)"')
_FIELD = re.compile(r' ([^=" ][^="]*)=(?:"((?:[^"\\]|\\.)*)"|(\S*))')


@dataclass(frozen=True, slots=True)
class Line:
    """One structured log line: its message and its fields, all still text."""

    message: str
    fields: dict[str, str]


def parse(text: str, wanted: Collection[str] | None = None) -> Line | None:
    """The line's message and fields, or None if it is not structured or its message is not in `wanted`.

    Continuation lines, stack traces and start-up banners are not structured: they are None, not an error.
    """
    header = _HEADER.match(text)
    if header is None:
        return None
    message = _unquote(header.group(1))
    if wanted is not None and message not in wanted:
        return None
    pairs = {
        match.group(1): _unquote(match.group(2)) if match.group(2) is not None else match.group(3)
        for match in _FIELD.finditer(text, header.end())
    }
    return Line(message, pairs)


def _unquote(text: str) -> str:
    """Undo Go's strconv.Quote, whose escapes are a subset of Python's."""
    if "\\" not in text:
        return text
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
