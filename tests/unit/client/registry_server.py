"""A small schema registry behind real HTTP, in memory."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class RegistryServer(ThreadingHTTPServer):
    """Numbers schemas as they come, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.schemas: list[dict[str, Any]] = []
        self.subjects: dict[str, list[int]] = {}
        self.asked: list[str] = []
        self.authorizations: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: RegistryServer

    def do_GET(self) -> None:
        self._note()
        schemas, subjects = self.server.schemas, self.server.subjects
        path = self.path.partition("?")[0]
        match [unquote(part) for part in path.strip("/").split("/")]:
            case ["schemas", "ids", number] if int(number) <= len(schemas):
                self._answer(200, schemas[int(number) - 1])
            case ["subjects", subject, "versions", "latest"] if subject in subjects:
                latest = subjects[subject][-1]
                self._answer(200, {"id": latest, **schemas[latest - 1]})
            case ["subjects", subject, "versions", number] if subject in subjects:
                self._answer(200, schemas[subjects[subject][int(number) - 1] - 1])
            case ["broken", *_]:
                self._answer_bytes(500, b"no JSON")
            case _:
                self._answer(404, {"error_code": 40403, "message": "Schema not found"})

    def do_POST(self) -> None:
        self._note()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["schema"] == "nonsense":
            self._answer(422, {"error_code": 42201, "message": "Invalid schema"})
            return
        if body not in self.server.schemas:
            self.server.schemas.append(body)
        number = self.server.schemas.index(body) + 1
        subject = unquote(self.path.strip("/").split("/")[1])
        versions = self.server.subjects.setdefault(subject, [])
        if number not in versions:
            versions.append(number)
        self._answer(200, {"id": number, "version": versions.index(number) + 1})

    def _note(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.authorizations.append(self.headers.get("Authorization"))

    def _answer(self, status: int, body: Mapping[str, object]) -> None:
        self._answer_bytes(status, json.dumps(body).encode())

    def _answer_bytes(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def registry_server() -> Iterator[RegistryServer]:
    """A running registry."""
    with RegistryServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
