"""A client that sends exactly what it is given: one message, or one frame, at a time."""

import socket
from types import TracebackType
from typing import Any, Self

from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import facts_of
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header

_SIZE_BYTES = 4


class Disconnected(Exception):
    """The broker closed the connection instead of answering."""


class WireClient:
    """One blocking connection; requests and responses are messages of `moldau.protocol`."""

    def __init__(
        self, bootstrap_servers: str, *, client_id: str = "wire", timeout_s: float = 10.0
    ) -> None:
        host, _, port = bootstrap_servers.rpartition(":")
        self.client_id = client_id
        self.socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def ask(self, request: object, version: int | None = None) -> Any:
        """Send a request, in its newest version unless given, and return the response."""
        api = API_BY_KEY[self.send(request, version)]
        version = api.versions[-1] if version is None else version
        frame = self.receive_frame()
        correlation_id, position = decode_response_header(frame, api.key, version)
        assert correlation_id == self._correlation_id
        response: Any
        response, end = decode(api.response, version, frame, position)
        assert end == len(frame), "the response is longer than it says"
        return response

    def send(self, request: object, version: int | None = None) -> int:
        """Send a request without waiting; returns its API key."""
        key = facts_of(type(request)).api_key
        assert key is not None
        version = API_BY_KEY[key].versions[-1] if version is None else version
        self._correlation_id += 1
        header = RequestHeader(key, version, self._correlation_id, self.client_id)
        self.send_frame(encode_request_header(header) + encode(request, version))
        return key

    def send_frame(self, payload: bytes) -> None:
        """Send any bytes behind their size."""
        self.send_bytes(len(payload).to_bytes(_SIZE_BYTES, "big") + payload)

    def send_bytes(self, data: bytes) -> None:
        """Send any bytes."""
        try:
            self.socket.sendall(data)
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Disconnected from error

    def receive_frame(self) -> bytes:
        """The next frame, without its size."""
        return self._receive(int.from_bytes(self._receive(_SIZE_BYTES), "big"))

    def _receive(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                chunk = self.socket.recv(size - len(received))
            except ConnectionResetError as error:
                raise Disconnected from error
            if not chunk:
                raise Disconnected
            received += chunk
        return bytes(received)

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
