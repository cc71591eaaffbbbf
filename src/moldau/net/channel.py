"""Requests to another broker: one connection, one request at a time, in the order of calling.

A call that finds no connection makes one; after a failure the next call first waits a
little, longer after each failure in a row. What was lost on the way is not sent again:
whether it may have taken effect, and matters, is for the caller to say.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moldau.errors import KafkaError, ProtocolError
from moldau.net.channel_login import ChannelLogin
from moldau.net.refusal import as_refusal
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import facts_of
from moldau.protocol.frame import FrameReader
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header

_FRAME_MAX_BYTES = 2**31 - 1
_CORRELATION_COUNT = 2**31
# What a frame begins with: its size, and what all headers of requests begin with.
_FRAME_BEGIN = struct.Struct(">ihhi")
_SIZE_BYTES = 4
# A large frame comes in pieces, and each would wake the broker, which costs more than receiving
# it. The system wakes it earlier where its buffers are full.
_DOZE_MIN_BYTES = 131_072
_DOZE_MAX_BYTES = 1_048_576

Reply = Callable[[memoryview, int], bytes | None]
"""Gets an answer and where its body begins, as soon as it has come.

Returns the body of the next request, of the same API and version; nothing (b"") where the
answer is dealt with and nothing is to be sent; None to have the answer returned.
"""


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
        self,
        host: str,
        port: int,
        client_id: str,
        *,
        limits: ChannelLimits | None = None,
        login: ChannelLogin | None = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        """With a `login`, every connection begins with it.

        `tls` is asked for each new connection: keys change while a broker runs.
        """
        self._tls = tls
        self.host = host
        self.port = port
        self.client_id = client_id
        self._limits = limits or ChannelLimits()
        self._login = login
        self._renew_login_at_s: float | None = None
        self._turn = asyncio.Lock()
        self._calls = 0
        self._connection: _Connection | None = None
        self._correlation_id = 0
        self._failures = 0
        self._is_closed = False

    async def call(self, request: object, version: int, reply: Reply | None = None) -> object:
        """Send a request in one of its versions and return the answer.

        With a `reply` the next request may follow at once, without a task being woken, which
        costs more than a small answer; None is returned where that has dealt with the last one.

        Raises OSError (ConnectionError, TimeoutError) if there is no answer; the next call
        then starts with a new connection.
        """
        if self._calls >= self._limits.calls_max:
            raise ConnectionError(f"{self._calls} requests to {self} wait already")
        self._calls += 1
        try:
            async with self._turn:
                connection = await self._connected()
                talk = _Talk(self, _api_key(request), version, reply)
                return await self._exchange(connection, talk, encode(request, version))
        finally:
            self._calls -= 1

    async def until_lost(self) -> None:
        """Return when the connection that there is has ended, at once if there is none."""
        if self._connection is not None:
            await self._connection.until_ended()

    def close(self) -> None:
        """Close for good; callers that wait for a response get ConnectionError."""
        self._is_closed = True
        if self._connection is not None:
            self._connection.fail(f"the channel to {self} was closed")

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def next_correlation_id(self) -> int:
        """The number of another request."""
        self._correlation_id = (self._correlation_id + 1) % _CORRELATION_COUNT
        return self._correlation_id

    @property
    def is_login_due(self) -> bool:
        """Whether the login must be renewed before anything else is said."""
        due_s = self._renew_login_at_s
        return due_s is not None and asyncio.get_running_loop().time() >= due_s

    async def _connected(self) -> "_Connection":
        self._require_open()
        if self._connection is not None and self._connection.is_open:
            if self.is_login_due:
                await self._log_in(self._connection)
            return self._connection
        # Also without a delay: `timeout` needs a task, which an eager request gets by waiting.
        await asyncio.sleep(self._delay_s())
        self._require_open()
        self._failures += 1
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._limits.timeout_s):
            try:
                _, connection = await loop.create_connection(
                    lambda: _Connection(str(self)), self.host, self.port, **self._protection()
                )
            except OSError as error:
                raise as_refusal(error) from error
        self._connection = connection
        if self._is_closed:
            connection.fail(f"the channel to {self} was closed")
        await self._log_in(connection)
        return connection

    async def _log_in(self, connection: "_Connection") -> None:
        if self._login is None:
            return

        async def ask(request: object, version: int) -> object:
            talk = _Talk(self, _api_key(request), version, None)
            return await self._exchange(connection, talk, encode(request, version))

        self._renew_login_at_s = None
        failures = self._failures
        try:
            holds_s = await self._login.perform(ask)
        except BaseException as error:
            # Each answer counts as a success, but it is the login that has to be one.
            self._failures = failures
            connection.fail(f"the login to {self} failed")
            if isinstance(error, KafkaError):
                raise ConnectionError(f"{self}: {error}") from error
            raise
        if holds_s is not None:
            self._renew_login_at_s = asyncio.get_running_loop().time() + holds_s

    def _protection(self) -> dict[str, Any]:
        return {} if self._tls is None else {"ssl": self._tls(), "server_hostname": self.host}

    def _delay_s(self) -> float:
        if not self._failures:
            return 0.0
        delay_s: float = self._limits.backoff_s * 2 ** min(self._failures - 1, 16)
        return min(delay_s, self._limits.backoff_max_s)

    async def _exchange(self, connection: "_Connection", talk: "_Talk", body: bytes) -> object:
        try:
            frame = await connection.exchange(talk, talk.framed(body), self._limits.timeout_s)
            answer = None if talk.is_over else talk.decoded(frame)
        except ProtocolError as error:
            connection.fail("failed to parse a response")
            raise ConnectionError(f"{self} does not speak the protocol: {error}") from error
        except asyncio.CancelledError:
            # The answer may still come, and would be taken for the next one's.
            connection.fail("the caller has gone")
            raise
        self._failures = 0
        return answer

    def _require_open(self) -> None:
        if self._is_closed:
            raise ConnectionError(f"the channel to {self} was closed")


def _api_key(request: object) -> int:
    key = facts_of(type(request)).api_key
    assert key is not None, "only requests are sent"
    return key


class _Talk:
    """A request, and those that follow from its answer."""

    __slots__ = ("_channel", "_header", "_header_rest", "_reply", "is_over")

    def __init__(self, channel: Channel, key: int, version: int, reply: Reply | None) -> None:
        self._channel = channel
        self._header = RequestHeader(key, version, 0, channel.client_id)
        begin_size = _FRAME_BEGIN.size - _SIZE_BYTES
        self._header_rest = encode_request_header(self._header)[begin_size:]
        self._reply = reply
        self.is_over = False
        """Whether the last answer was dealt with."""

    def framed(self, body: bytes) -> bytes:
        """The next request."""
        header, rest = self._header, self._header_rest
        header.correlation_id = self._channel.next_correlation_id()
        size = _FRAME_BEGIN.size - _SIZE_BYTES + len(rest) + len(body)
        begin = _FRAME_BEGIN.pack(size, header.api_key, header.api_version, header.correlation_id)
        return begin + rest + body

    def reply(self, frame: memoryview) -> bytes | None:
        """The request that follows an answer, if one does."""
        if self._reply is None or self._channel.is_login_due:
            return None
        body = self._reply(frame, self._body_of(frame))
        self.is_over = body == b""
        return self.framed(body) if body else None

    def decoded(self, frame: memoryview) -> object:
        """The answer to the last request; ProtocolError if it is something else."""
        header, position = self._header, self._body_of(frame)
        cls = API_BY_KEY[header.api_key].response
        answer: object = decode(cls, header.api_version, frame, position)[0]
        return answer

    def _body_of(self, frame: memoryview) -> int:
        header = self._header
        correlation_id, position = decode_response_header(frame, header.api_key, header.api_version)
        if correlation_id != header.correlation_id:
            raise ProtocolError(f"answer {correlation_id} to request {header.correlation_id}")
        return position


class _Connection(asyncio.BufferedProtocol):
    """Frames to a broker and back, one at a time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._reader = FrameReader(_FRAME_MAX_BYTES)
        self._failure: OSError | None = None
        self._loop = asyncio.get_running_loop()
        self._talk: _Talk
        self._answer: asyncio.Future[memoryview] | None = None
        self._timer: asyncio.TimerHandle
        self._timeout_s = self._deadline_s = 0.0
        self._dozing_for = 1
        self._has_ended = asyncio.Event()
        self._transport: asyncio.Transport

    @property
    def is_open(self) -> bool:
        return self._failure is None

    async def until_ended(self) -> None:
        await self._has_ended.wait()

    async def exchange(self, talk: _Talk, frame: bytes, timeout_s: float) -> memoryview:
        """Send a frame and return the next one that comes and is not replied to."""
        if self._failure is not None:
            raise self._failure
        assert self._answer is None, "one request at a time"
        self._talk = talk
        self._answer = self._loop.create_future()
        self._timeout_s = timeout_s
        self._send(frame)
        self._timer = self._loop.call_at(self._deadline_s, self._look_at_clock)
        try:
            return await self._answer
        finally:
            self._timer.cancel()
            self._answer = None

    def fail(self, reason: str) -> None:
        self._end(ConnectionError(reason))

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
        self._doze(self._reader.missing_bytes if frame is None else 0)
        if frame is not None:
            self._take(frame)

    def _doze(self, missing_bytes: int) -> None:
        """Be woken once for the rest of a large frame instead of for every piece of it."""
        wanted = min(missing_bytes, _DOZE_MAX_BYTES) if missing_bytes >= _DOZE_MIN_BYTES else 1
        if wanted != self._dozing_for:
            self._dozing_for = wanted
            connected = self._transport.get_extra_info("socket")
            # With TLS, some of what is missing may have left the socket already.
            is_plain = self._transport.get_extra_info("ssl_object") is None
            if connected is not None and is_plain:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)

    def _take(self, frame: memoryview) -> None:
        answer = self._answer
        if answer is None or answer.done():
            self.fail(f"{self._name} sent a response without a request")
            return
        try:
            following = self._talk.reply(frame)
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            answer.set_exception(error)
            return
        if answer.done():
            return  # closed on the way
        if following is None:
            answer.set_result(frame)
        else:
            self._send(following)

    def _send(self, frame: bytes) -> None:
        self._deadline_s = self._loop.time() + self._timeout_s
        self._transport.write(frame)

    def _look_at_clock(self) -> None:
        """The timer is set once for all requests of a talk, and looks for the last of them."""
        if self._loop.time() < self._deadline_s:
            self._timer = self._loop.call_at(self._deadline_s, self._look_at_clock)
        else:
            message = f"{self._name} did not answer within {self._timeout_s:g} s"
            self._end(TimeoutError(message))

    def _end(self, failure: OSError) -> None:
        if self._failure is not None:
            return
        self._failure = failure
        self._has_ended.set()
        self._transport.abort()
        self._reader.forget()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(failure)
