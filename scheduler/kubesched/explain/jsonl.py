"""Many states, one per line: `{"objects": […], "pod": {…}}` or `{"events": […], "pod": {…}}`.

A line with objects is a state of its own; lines with events advance one state that lives as long as the
input, which is how incremental counts are checked. Each line is answered by one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from kubesched.api.objects import Object, Pod, decode
from kubesched.explain.explanation import Explanation
from kubesched.explain.session import Answerer
from kubesched.state.events import WatchEvent


class InputError(ValueError):
    """A line, file or object that cannot be read; the message says where and why."""


class _Kind(msgspec.Struct):
    kind: str = ""


class _Event(msgspec.Struct):
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: msgspec.Raw


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    pod: msgspec.Raw
    objects: list[msgspec.Raw] | None = None
    events: list[_Event] | None = None


_LINE = msgspec.json.Decoder(_Line)
_KIND = msgspec.json.Decoder(_Kind)


def answers(lines: Iterable[bytes], objects: Answerer, events: Answerer) -> Iterator[Explanation]:
    """Answer line by line; empty lines are passed over. Raises InputError with the line's number.

    `objects` answers lines with objects, `events` lines with events: they never see each other's state.
    """
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            yield _answer(text, objects, events)
        except (msgspec.DecodeError, ValueError) as error:
            raise InputError(f"line {number}: {error}") from error


def _answer(text: bytes, objects: Answerer, events: Answerer) -> Explanation:
    line = _LINE.decode(text)
    if (line.objects is None) == (line.events is None):
        raise InputError('a line has either "objects" or "events"')
    pod = _object(line.pod, "Pod")
    if not isinstance(pod, Pod):
        raise InputError(f'"pod" is a {pod.kind}')
    if line.objects is not None:
        feed = objects.new_state()
        for raw in line.objects:
            feed.add(_object(raw))
        return objects.answer(pod)
    for event in line.events or ():
        events.feed.apply(WatchEvent(event.type, _object(event.object)))
    return events.answer(pod)


def _object(raw: msgspec.Raw, default: str = "") -> Object:
    kind = _KIND.decode(raw).kind or default
    if not kind:
        raise InputError('an object needs "kind"')
    return decode(kind, raw)
