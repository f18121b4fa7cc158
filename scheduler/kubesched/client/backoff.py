"""Waiting longer after every failure, with jitter, so that many clients do not return at once."""

from __future__ import annotations

from random import Random


class Backoff:
    """Delays of `first`, doubled up to `most` seconds, each stretched by up to `jitter` times itself.

    Follows the reflector's backoff manager in client-go: 0.8 s, doubling, up to 30 s, jitter 1.0.
    """

    __slots__ = ("_first", "_jitter", "_most", "_next", "_rng")

    def __init__(self, rng: Random, *, first: float = 0.8, most: float = 30.0, jitter: float = 1.0) -> None:
        self._rng = rng
        self._first = first
        self._most = most
        self._jitter = jitter
        self._next = first

    def delay(self) -> float:
        """How long to wait now; the next answer is longer."""
        base = self._next
        self._next = min(base * 2, self._most)
        return base * (1 + self._jitter * self._rng.random())

    def reset(self) -> None:
        """Forget the failures after a success."""
        self._next = self._first
