"""A web server of the test's own, which notes what it is asked and answers as it is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Said:
    """An answer."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)


class Server(ThreadingHTTPServer):
    """Every path is the same to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.answer: Callable[[str], Said] = lambda _: Said(204)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.do_GET()

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.headers.append(dict(self.headers))
        said = self.server.answer(self.path)
        body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
        body = b"" if said.body is None else body
        self.send_response(said.status)
        for name, value in said.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def web_server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()
