"""Requests to another broker: one connection, one request at a time, in the order of calling.

A call that finds no connection makes one; after a failure the next call first waits a
little, longer after each failure in a row. What was lost on the way is not sent again:
whether it may have taken effect, and matters, is for the caller to say.
"""

import asyncio
from dataclasses import dataclass

from moldau.errors import ProtocolError
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import facts_of
from moldau.protocol.frame import FrameReader
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header

_FRAME_MAX_BYTES = 2**31 - 1
_SIZE_BYTES = 4
_CORRELATION_COUNT = 2**31


@dataclass(frozen=True, slots=True)
class ChannelLimits:
    """What a channel puts up with."""

    timeout_s: float = 30.0
    """How long a connection may take, and how long an answer."""
    calls_max: int = 1000
    """How many calls may be under way, most of them waiting for their turn."""
    backoff_s: float = 0.05
    backoff_max_s: float = 1.0


class Channel:
    """A way to one broker, for as long as its owner keeps it."""

    def __init__(
        self, host: str, port: int, client_id: str, *, limits: ChannelLimits | None = None
    ) -> None:
        self.host = host
        self.port = port
        self._client_id = client_id
        self._limits = limits or ChannelLimits()
        self._turn = asyncio.Lock()
        self._calls = 0
        self._connection: _Connection | None = None
        self._correlation_id = 0
        self._failures = 0
        self._is_closed = False

    async def call(self, request: object, version: int) -> object:
        """Send a request in one of its versions and return the answer.

        Raises OSError (ConnectionError, TimeoutError) if there is none; the next call then
        starts with a new connection.
        """
        if self._calls >= self._limits.calls_max:
            raise ConnectionError(f"{self._calls} requests to {self} wait already")
        self._calls += 1
        try:
            async with self._turn:
                connection = await self._connected()
                return await self._exchange(connection, request, version)
        finally:
            self._calls -= 1

    def close(self) -> None:
        """Hang up for good; whoever waits for an answer gets ConnectionError."""
        self._is_closed = True
        if self._connection is not None:
            self._connection.fail(f"the channel to {self} was closed")

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    async def _connected(self) -> "_Connection":
        self._require_open()
        if self._connection is not None and self._connection.is_open:
            return self._connection
        # Also without a delay: `timeout` needs a task, which an eager request gets by waiting.
        await asyncio.sleep(self._delay_s())
        self._require_open()
        self._failures += 1
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._limits.timeout_s):
            _, connection = await loop.create_connection(
                lambda: _Connection(str(self)), self.host, self.port
            )
        self._connection = connection
        if self._is_closed:
            connection.fail(f"the channel to {self} was closed")
        return connection

    def _delay_s(self) -> float:
        if not self._failures:
            return 0.0
        delay_s: float = self._limits.backoff_s * 2 ** min(self._failures - 1, 16)
        return min(delay_s, self._limits.backoff_max_s)

    async def _exchange(self, connection: "_Connection", request: object, version: int) -> object:
        key = facts_of(type(request)).api_key
        assert key is not None, "only requests are sent"
        self._correlation_id = (self._correlation_id + 1) % _CORRELATION_COUNT
        header = RequestHeader(key, version, self._correlation_id, self._client_id)
        payload = encode_request_header(header) + encode(request, version)
        timer = asyncio.get_running_loop().call_later(
            self._limits.timeout_s, connection.time_out, self._limits.timeout_s
        )
        try:
            frame = await connection.exchange(payload)
            answer = _decode(frame, header)
        except ProtocolError as error:
            connection.fail("an answer was not understood")
            raise ConnectionError(f"{self} does not speak the protocol: {error}") from error
        except asyncio.CancelledError:
            # The answer may still come, and would be taken for the next one's.
            connection.fail("the caller has gone")
            raise
        finally:
            timer.cancel()
        self._failures = 0
        return answer

    def _require_open(self) -> None:
        if self._is_closed:
            raise ConnectionError(f"the channel to {self} was closed")


def _decode(frame: memoryview, header: RequestHeader) -> object:
    """The answer to the request with this header; ProtocolError if it is something else."""
    key, version = header.api_key, header.api_version
    correlation_id, position = decode_response_header(frame, key, version)
    if correlation_id != header.correlation_id:
        raise ProtocolError(f"answer {correlation_id} to request {header.correlation_id}")
    answer: object = decode(API_BY_KEY[key].response, version, frame, position)[0]
    return answer


class _Connection(asyncio.BufferedProtocol):
    """Frames to a broker and back, one at a time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._reader = FrameReader(_FRAME_MAX_BYTES)
        self._failure: OSError | None = None
        self._answer: asyncio.Future[memoryview] | None = None
        self._transport: asyncio.Transport

    @property
    def is_open(self) -> bool:
        return self._failure is None

    async def exchange(self, payload: bytes) -> memoryview:
        """Send a frame and return the next one that comes."""
        if self._failure is not None:
            raise self._failure
        assert self._answer is None, "one request at a time"
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(len(payload).to_bytes(_SIZE_BYTES, "big") + payload)
        try:
            return await self._answer
        finally:
            self._answer = None

    def fail(self, reason: str) -> None:
        self._end(ConnectionError(reason))

    def time_out(self, after_s: float) -> None:
        self._end(TimeoutError(f"{self._name} did not answer within {after_s:g} s"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        reason = "" if exc is None else f": {exc}"
        self.fail(f"{self._name} closed the connection{reason}")

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._reader.writable()

    def buffer_updated(self, nbytes: int) -> None:
        self._reader.received(nbytes)
        try:
            frame = self._reader.next_frame()
        except ProtocolError as error:
            self.fail(f"{self._name} does not speak the protocol: {error}")
            return
        if frame is not None:
            if self._answer is None or self._answer.done():
                self.fail(f"{self._name} answers what nobody has asked")
            else:
                self._answer.set_result(frame)

    def _end(self, failure: OSError) -> None:
        if self._failure is not None:
            return
        self._failure = failure
        self._transport.abort()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(failure)
