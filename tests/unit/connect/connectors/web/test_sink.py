"""Records are posted in their order; what a server refuses is told from what may pass."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from moldau.connect.connectors.web.sink import HttpSink
from moldau.connect.data.record import Datum
from moldau.connect.data.schema import BYTES, INT64, STRING, struct
from moldau.connect.errors import ConfigError, DataError, RetriableConnectError
from moldau.connect.testing import write

ROW = struct([("id", INT64), ("raw", BYTES)])


class Server(ThreadingHTTPServer):
    """Notes what it is sent, and answers as it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/in"


class Handler(BaseHTTPRequestHandler):
    """Every path is the same."""

    server: Server

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.headers.append(dict(self.headers))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def send(server: Server, *values: object, **settings: str) -> None:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    config = {"http.url": server.url, "retry.backoff.ms": "0", **named}
    write(HttpSink, config, values)


def test_each_record_is_a_request_or_many_are(server: Server) -> None:
    rows = [Datum({"id": at, "raw": b"\0"}, ROW) for at in range(3)]
    send(server, *rows[:2])
    send(server, *rows, batching_enabled="true", batch_max_size="2")
    send(server, Datum("text", STRING), http_headers_content_type="text/plain")
    assert server.bodies == [
        b'{"id":0,"raw":"AA=="}',
        b'{"id":1,"raw":"AA=="}',
        b'[{"id":0,"raw":"AA=="},{"id":1,"raw":"AA=="}]',
        b'[{"id":2,"raw":"AA=="}]',
        b"text",
    ]
    assert server.headers[-1]["Content-Type"] == "text/plain"


def test_headers_are_sent(server: Server) -> None:
    send(
        server,
        1,
        http_authorization_type="static",
        http_headers_authorization="Bearer x",
        http_headers_additional="X-A: 1,X-B:2",
    )
    found = server.headers[0]
    assert (found["Authorization"], found["X-A"], found["X-B"]) == ("Bearer x", "1", "2")


def test_what_may_pass_is_tried_again_and_what_is_refused_is_the_records_fault(
    server: Server,
) -> None:
    server.answers = [503, 200]
    send(server, 1)
    assert server.bodies == [b"1", b"1"]
    server.answers = [503, 429]
    with pytest.raises(RetriableConnectError, match="429"):
        send(server, 1)
    server.answers = [422]
    with pytest.raises(DataError, match="/in: 422") as refused:
        send(server, 1, http_url=f"{server.url}?token=secret")
    assert "secret" not in str(refused.value)
    assert len(server.bodies) == 5


def test_a_server_that_is_away_and_an_address_that_is_none_are_told_apart(server: Server) -> None:
    with pytest.raises(RetriableConnectError, match="refused"):
        send(server, 1, http_url="http://127.0.0.1:1/")
    for url in ("file:///etc/passwd", "http://", "http://me:secret@h/"):
        with pytest.raises(ConfigError) as refused:
            HttpSink({"http.url": url})
        assert "secret" not in str(refused.value)
    with pytest.raises(ConfigError, match="NAME:VALUE"):
        HttpSink({"http.url": server.url, "http.headers.additional": "x"})
