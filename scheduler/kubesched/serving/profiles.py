"""Where a Python process spends its time and memory, in the form that `go tool pprof` reads.

CPU time is sampled: a thread looks at the stacks of all others a hundred times a second. Tasks take the part
of goroutines. Memory is known only to a process that was started with PYTHONTRACEMALLOC. The message is
`profile.proto` of google/pprof, of which this writes the fields that stacks need.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType

Frame = tuple[str, str, int]
"""Function, file, and line."""
Stack = tuple[Frame, ...]
"""The innermost frame first."""

HERTZ = 100
_WAITING = ("selectors.py", "threading.py", "asyncio/runners.py", "concurrent/futures/thread.py")


def running(seconds: float, stop: threading.Event) -> Counter[Stack]:
    """How often each stack was seen at work, for that long or until `stop`. Blocks: call it in a thread."""
    seen: Counter[Stack] = Counter()
    own = threading.get_ident()
    for _ in range(int(seconds * HERTZ)):
        if stop.wait(1 / HERTZ):
            break
        for ident, frame in _frames().items():
            if ident != own and not _is_idle(frame):
                seen[stack_of(frame)] += 1
    return seen


def _is_idle(frame: FrameType) -> bool:
    """A thread that waits for work, or a loop that waits for events, uses no CPU."""
    return frame.f_code.co_filename.endswith(_WAITING)


def stack_of(frame: FrameType | None) -> Stack:
    """The frames from this one outwards."""
    frames: list[Frame] = []
    while frame is not None:
        frames.append((frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(frames)


def tasks() -> Counter[Stack]:
    """The stacks of all tasks of the running loop, and of the threads."""
    stacks: Counter[Stack] = Counter()
    for task in asyncio.all_tasks():
        stacks[tuple(stack_of(frame)[0] for frame in reversed(task.get_stack()))] += 1
    return stacks + threads()


def threads() -> Counter[Stack]:
    """The stacks of all threads."""
    return Counter(map(stack_of, _frames().values()))


def _frames() -> Mapping[int, FrameType]:
    return sys._current_frames()  # noqa: SLF001 - documented, whatever its name


def memory() -> Counter[Stack]:
    """Bytes in use by where they were allocated; empty unless allocations are traced."""
    if not tracemalloc.is_tracing():
        return Counter()
    sizes: Counter[Stack] = Counter()
    for trace in tracemalloc.take_snapshot().traces:
        sizes[tuple(("", frame.filename, frame.lineno) for frame in reversed(trace.traceback))] += trace.size
    return sizes


def text(name: str, stacks: Mapping[Stack, int]) -> str:
    """The stacks for people, the most frequent first."""
    lines = [f"{name} profile: total {sum(stacks.values())}"]
    for stack, count in sorted(stacks.items(), key=lambda item: -item[1]):
        lines.append(f"{count} @")
        lines += [f"#\t{file}:{line}\t{function}" for function, file, line in stack]
    return "\n".join([*lines, ""])


def encode(stacks: Mapping[Stack, int], unit: tuple[str, str], *, period: int = 1) -> bytes:
    """A gzipped profile with one value per stack, its type and unit such as ("cpu", "nanoseconds")."""
    return gzip.compress(b"".join(_Message(unit, period).fields(stacks)), mtime=0)


class _Message:
    """One message: the tables that its samples refer to by number."""

    def __init__(self, unit: tuple[str, str], period: int) -> None:
        self._unit = unit
        self._period = period
        self._strings: dict[str, int] = {"": 0}
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[Frame, int] = {}

    def fields(self, stacks: Mapping[Stack, int]) -> Iterator[bytes]:
        """The fields of the message; the string table is last, when it is complete."""
        kind = _number(1, self._string(self._unit[0])) + _number(2, self._string(self._unit[1]))
        yield _bytes(1, kind)
        for stack, count in stacks.items():
            places = [self._location(frame) for frame in stack]
            yield _bytes(2, _packed(1, places) + _packed(2, [count * self._period]))
        for (_, _, line), (place, function) in self._lines():
            yield _bytes(4, _number(1, place) + _bytes(4, _number(1, function) + _number(2, line)))
        for (name, file), number in self._functions.items():
            named = self._string(name or file)
            yield _bytes(5, _number(1, number) + _number(2, named) + _number(4, self._string(file)))
        yield from (_bytes(6, string.encode()) for string in self._strings)
        yield _bytes(11, kind) + _number(12, self._period)

    def _lines(self) -> Iterable[tuple[Frame, tuple[int, int]]]:
        return [
            (frame, (place, self._functions[frame[0], frame[1]])) for frame, place in self._locations.items()
        ]

    def _string(self, string: str) -> int:
        return self._strings.setdefault(string, len(self._strings))

    def _location(self, frame: Frame) -> int:
        function, file, _ = frame
        self._functions.setdefault((function, file), len(self._functions) + 1)
        return self._locations.setdefault(frame, len(self._locations) + 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _packed(field: int, values: Sequence[int]) -> bytes:
    return _bytes(field, b"".join(map(_varint, values)))
