"""Sockets of another process, which several accept from."""

import errno
import os
import socket

import pytest

from moldau.net.inherited import inherited
from moldau.net.listener import bind_host, listen


def test_the_port_of_another_process_is_not_bound_again() -> None:
    with listen("127.0.0.1", 0) as made:
        port = made.getsockname()[1]
        bind = inherited(port, [os.dup(made.fileno())], listen)
        with bind("127.0.0.1", port) as ours:
            assert ours.getsockname() == made.getsockname()
            assert not ours.get_inheritable()
            with socket.create_connection(("127.0.0.1", port)) as client:
                accepted, address = ours.accept()
                accepted.close()
                assert address == client.getsockname()
        # Who closes its own does not close that of others.
        with socket.create_connection(("127.0.0.1", port)):
            made.accept()[0].close()


def test_other_ports_are_bound_as_usual() -> None:
    with inherited(1, [], listen)("127.0.0.1", 0) as bound:
        assert bound.getsockname()[1] > 1


def test_a_name_has_the_addresses_that_it_had_for_the_other_process() -> None:
    with listen("127.0.0.1", 0) as made:
        port = made.getsockname()[1]
        bind = inherited(port, [os.dup(made.fileno())], listen)
        (ours,) = bind_host("localhost", port, bind)
        ours.close()
        with pytest.raises(OSError, match="assign") as refused:
            bind("localhost", port)
        assert refused.value.errno == errno.EADDRNOTAVAIL
