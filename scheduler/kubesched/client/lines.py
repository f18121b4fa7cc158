"""Lines out of a byte stream, however it was cut."""

from __future__ import annotations

_LONGEST = 64 * 1024 * 1024


class LineTooLongError(ValueError):
    """A line grew beyond every object the API server stores."""


class LineSplitter:
    """Collects chunks and gives out whole lines.

    A chunk may end anywhere, also inside a character: lines stay bytes until they are complete. What stands
    after the last newline when the stream ends is a torn line; its event was not delivered and will come
    again from the last resource version.
    """

    __slots__ = ("_parts", "_size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without newlines and without empty lines."""
        if b"\n" not in chunk:
            self._keep(chunk)
            return []
        head, *lines = chunk.split(b"\n")
        tail = lines.pop()
        lines.insert(0, b"".join((*self._parts, head)))
        self._parts, self._size = [], 0
        self._keep(tail)
        return [line for line in lines if line.strip()]

    @property
    def torn(self) -> bool:
        """Whether an incomplete line is held."""
        return self._size > 0

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
            if self._size > _LONGEST:
                raise LineTooLongError(f"a line of the watch is longer than {_LONGEST} bytes")
