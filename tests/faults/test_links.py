"""Links: what goes through, what waits, and what is lost with the connection."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from conformance.apache.broker import free_port
from faults.links import HOST, Links
from moldau.protocol.headers import RequestHeader, encode_request_header

API_VERSIONS = 18
WAIT_S = 0.2


class Echo:
    """A server that sends everything back."""

    def __init__(self) -> None:
        self._socket = socket.create_server((HOST, 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._echo, args=(connection,), daemon=True).start()

    @staticmethod
    def _echo(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(1000):
                connection.sendall(data)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def links() -> Iterator[Links]:
    made = Links()
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.close()


def call(port: int) -> socket.socket:
    return socket.create_connection((HOST, port), timeout=10)


def frame(client_id: str) -> bytes:
    payload = encode_request_header(RequestHeader(API_VERSIONS, 0, 1, client_id))
    return len(payload).to_bytes(4, "big") + payload


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(WAIT_S)
    try:
        return not connection.recv(1000)
    except TimeoutError:
        return True
    finally:
        connection.settimeout(10)


def test_what_is_sent_over_a_cut_link_arrives_when_it_is_mended(links: Links, server: Echo) -> None:
    with call(links.open("zookeeper", server.port, "broker-1")) as connection:
        connection.sendall(b"before")
        assert connection.recv(1000) == b"before"
        links.cut("broker-1", "zookeeper")
        connection.sendall(b"meanwhile")
        assert is_silent(connection)
        links.mend()
        assert connection.recv(1000) == b"meanwhile"


def test_who_comes_in_is_known_by_its_client_id(links: Links, server: Echo) -> None:
    port = links.open("broker-2", server.port)
    links.cut("broker-2", "broker-1", "captive")
    for name in ("broker-1", "broker-1-fetcher", "captive"):
        with call(port) as connection:
            connection.sendall(frame(name))
            assert is_silent(connection), name
    for name in ("broker-3", "broker-11", "somebody"):
        with call(port) as connection:
            connection.sendall(frame(name))
            assert connection.recv(1000) == frame(name)


def test_a_link_can_be_cut_in_one_direction(links: Links, server: Echo) -> None:
    with call(links.open("broker-2", server.port)) as connection:
        connection.sendall(frame("broker-1"))
        assert connection.recv(1000) == frame("broker-1")
        # Its answers are lost, not what it hears.
        links.mute("broker-2", "broker-1")
        connection.sendall(b"?")
        assert is_silent(connection)
        links.mend()
        assert connection.recv(1000) == b"?"


def test_nobody_behind_the_door_is_a_closed_connection(links: Links) -> None:
    with call(links.open("broker-1", free_port())) as connection:
        connection.sendall(frame("client"))
        with suppress(ConnectionResetError):
            assert connection.recv(1000) == b""
