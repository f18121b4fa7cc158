"""What a client of the API server tells about its requests, for whoever counts them.

`client` knows no metrics; it names the moments. Follows the hooks of `client-go/tools/metrics`.
"""

from __future__ import annotations

from typing import Protocol


class Traffic(Protocol):
    """Hears of every request. `verb` is the HTTP method; a `code` of "<error>" means that none came."""

    def waited(self, verb: str, seconds: float) -> None:
        """A request had its turn after waiting in its lane for that long."""
        ...

    def answered(self, verb: str, code: str, *, sent: int | None, received: int | None) -> None:
        """A try ended; `sent` and `received` are the bytes of the bodies, None where none is counted."""
        ...

    def retried(self, verb: str, code: str) -> None:
        """A request is sent once more after an answer with that code."""
        ...

    def took(self, verb: str, seconds: float) -> None:
        """A request ended for good, that long after it was asked for."""
        ...


class NoTraffic:
    """Nobody counts."""

    def waited(self, verb: str, seconds: float) -> None:
        """Nothing."""

    def answered(self, verb: str, code: str, *, sent: int | None, received: int | None) -> None:
        """Nothing."""

    def retried(self, verb: str, code: str) -> None:
        """Nothing."""

    def took(self, verb: str, seconds: float) -> None:
        """Nothing."""
