"""Ports on loopback that nobody else holds, held until the program they are for is gone.

A port that is found free and then given away can be taken in between; two control planes on one port then mix
their objects without a word. So a reservation stays bound, though never listening, while the program runs.
Linux lets the program bind the same port, as both sides set SO_REUSEADDR (Go and asyncio do for every
listener); and it never hands out a bound port to whoever asks for any free port, nor as the source port of a
connection.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"


class PortReservations:
    """The ports that one owner holds; closing it gives all of them back."""

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}

    def reserve(self) -> int:
        """A port that no one else can be given until `release` or `close`."""
        holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((HOST, 0))
        port: int = holder.getsockname()[1]
        self._held[port] = holder
        return port

    def release(self, port: int) -> None:
        """Give `port` back; a port that is not held is left alone."""
        holder = self._held.pop(port, None)
        if holder is not None:
            holder.close()

    @property
    def held(self) -> tuple[int, ...]:
        """The ports held now, in the order of their reservation."""
        return tuple(self._held)

    def close(self) -> None:
        """Give all ports back."""
        for port in self.held:
            self.release(port)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
