"""A reserved port is nobody else's, yet the program it is for can listen on it."""

import errno
import socket

import pytest

from schedlab.cluster.ports import HOST, PortReservations


def listen(port, *, reuse):
    """A listening socket, as a program would open it; Go and asyncio set SO_REUSEADDR."""
    server = socket.socket()
    if reuse:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((HOST, port))
        server.listen()
    except OSError:
        server.close()
        raise
    return server


def test_the_program_can_listen_on_a_reserved_port():
    """While the reservation stays."""
    with PortReservations() as ports, listen(ports.reserve(), reuse=True) as server:
        socket.create_connection(server.getsockname()).close()


def test_a_reserved_port_refuses_an_ordinary_bind():
    """A program that did not get the port from us fails loudly."""
    with PortReservations() as ports, pytest.raises(OSError, match="in use") as caught:
        listen(ports.reserve(), reuse=False)
    assert caught.value.errno == errno.EADDRINUSE


def test_a_port_in_use_refuses_a_second_listener():
    """Two programs on one port would mix their traffic; the second one cannot start."""
    with PortReservations() as ports:
        port = ports.reserve()
        with listen(port, reuse=True), pytest.raises(OSError, match="in use"):
            listen(port, reuse=True)


def test_reservations_of_two_owners_never_meet():
    """Hundreds of ports taken in turn by two owners are all different."""
    with PortReservations() as one, PortReservations() as other:
        taken = [owner.reserve() for _ in range(150) for owner in (one, other)]
        assert len(set(taken)) == len(taken)


def test_whoever_asks_for_any_port_gets_another_one():
    """The kernel does not hand out a reserved port, though nobody listens on it yet."""
    with PortReservations() as ports:
        reserved = {ports.reserve() for _ in range(50)}
        others = [socket.create_server((HOST, 0)) for _ in range(200)]
        try:
            assert reserved.isdisjoint(server.getsockname()[1] for server in others)
        finally:
            for server in others:
                server.close()


def test_a_released_port_is_free():
    """It can be bound again by anybody, and releasing it twice does no harm."""
    with PortReservations() as ports:
        port = ports.reserve()
        ports.release(port)
        ports.release(port)
        assert ports.held == ()
        listen(port, reuse=False).close()
