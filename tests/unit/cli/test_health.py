"""Ask a broker whether it serves."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from unit.cli.command import Done, run


class Starting(BaseHTTPRequestHandler):
    """What the metrics port says of a broker that recovers its logs."""

    def do_GET(self) -> None:
        is_alive = self.path == "/healthz"
        self.send_response(200 if is_alive else 503)
        self.end_headers()
        self.wfile.write(b"ok\n" if is_alive else b"the broker is starting\n")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[str]:
    with HTTPServer(("localhost", 0), Starting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield str(server.server_port)
        server.shutdown()
        thread.join()


def test_the_answer_becomes_the_exit_code(port: str) -> None:
    assert run("health", "--port", port) == Done(1, "the broker is starting\n", "")
    assert run("health", "--port", port, "--alive") == Done(0, "ok\n", "")


def test_where_nothing_listens_it_fails() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        done = run("health", "--host", "127.0.0.1", "--port", str(port))
    assert done.code == 1
    assert done.stderr.startswith(f"127.0.0.1:{port} does not answer: ")
