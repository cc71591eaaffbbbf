"""One connection to a broker: requests go out at once, answers come in their order."""

import asyncio
import math
import socket
import ssl
from asyncio.trsock import TransportSocket
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar, cast

from moldau.client.connection.refusal import SecurityRefused, why
from moldau.client.metrics import ConnectionTraffic
from moldau.errors import ErrorCode, KafkaError, NetworkException, ProtocolError
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode, encoder_of
from moldau.protocol.declaration import facts_of
from moldau.protocol.frame import FrameReader
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header

_FRAME_MAX_BYTES = 2**31 - 1
# What other protocols begin with would be larger than this as a size of Kafka's.
_FIRST_FRAME_MAX_BYTES = 2**28
_TLS_ALERT = 0x1503
_GROWTH = 1024  # a broker is believed when it announces a large answer: it is copied less
_SIZE_BYTES = 4
_CORRELATION_COUNT = 2**31
_NO_API = -1

Response = TypeVar("Response")


@dataclass(frozen=True, slots=True)
class Frame:
    """An answer whose body is not yet read."""

    data: memoryview
    position: int

    @property
    def error_code(self) -> int:
        """The first field of the few answers that begin with an error code."""
        return int.from_bytes(self.data[self.position : self.position + 2], "big", signed=True)

    def decode(self, response: type[Response], version: int) -> Response:
        """The answer as a message; ProtocolError if it is none."""
        answer, _ = decode(response, version, self.data, self.position)
        return answer


Answered = Callable[[Frame | KafkaError], None]
"""Is called with the response to a request, or with why there will be none."""


@dataclass(slots=True)
class _Expected:
    """An answer that has not come yet."""

    correlation_id: int
    api_key: int
    version: int
    answered: Answered
    deadline_s: float = math.inf
    """When it is late, in the loop's time; a caller with its own timeout needs none."""


class BrokerConnection(asyncio.BufferedProtocol):
    """Frames to one broker and back; fails as a whole, with all that waits for an answer."""

    def __init__(self, name: str, client_id: str, *, in_flight_max: int = 100) -> None:
        self.name = name
        self._client_id = client_id
        self._slots = asyncio.Semaphore(in_flight_max)
        self._reader = FrameReader(_FIRST_FRAME_MAX_BYTES, growth=_GROWTH)
        self._expected: deque[_Expected] = deque()
        self._correlation_id = 0
        self._answer_count = 0
        self._failure: KafkaError | None = None
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._is_shared = asyncio.Event()
        self._is_shared.set()
        self._watchdog: asyncio.TimerHandle | None = None
        self.traffic = ConnectionTraffic()
        """What is counted; connections that share a `ConnectionTraffic` count together."""
        self._transport: asyncio.Transport

    # What its owner calls

    @property
    def is_open(self) -> bool:
        """Whether requests can still be sent."""
        return self._failure is None

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._expected)

    @property
    def request_count(self) -> int:
        """Another one after each request."""
        return self._correlation_id

    async def ask(
        self, request: object, response: type[Response], version: int, *, timeout_s: float
    ) -> Response:
        """Send a request and return its answer, or raise what `exchange` raises."""
        frame = await self.exchange(request, version, timeout_s=timeout_s)
        try:
            return frame.decode(response, version)
        except ProtocolError as error:
            reason = f"{self.name} answered {type(request).__name__} with nonsense: {error}"
            self._fail(reason)
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, reason) from error

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold back the requests of others, but for those that are marked `is_alone`."""
        self._is_shared.clear()
        try:
            yield
        finally:
            self._is_shared.set()

    async def exchange(
        self, request: object, version: int, *, timeout_s: float, is_alone: bool = False
    ) -> Frame:
        """Send a request and return the frame of its answer.

        Answers come in order, so after one that is late the connection is of no use any more:
        it is closed, and all that waits on it fails as a network error.
        """
        frame: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout_s), self._slots:
                await self._wait_for_turn(is_alone=is_alone)
                self._expected.append(self._send(request, version, _setter(frame)))
                return await frame
        except TimeoutError:
            raise self._fail_late(type(request).__name__, timeout_s) from None

    async def exchange_token(self, token: bytes, *, timeout_s: float) -> bytes:
        """Send bytes without a header and return those that come back.

        That is how SASL went before there was a request for it; the caller is alone here.
        """
        frame: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout_s):
                self._expected.append(_Expected(0, _NO_API, 0, _setter(frame)))
                self._transport.write(len(token).to_bytes(_SIZE_BYTES, "big") + token)
                return bytes((await frame).data)
        except TimeoutError:
            raise self._fail_late("a SASL token", timeout_s) from None

    @property
    def can_post(self) -> bool:
        """Whether a request would be sent without waiting."""
        return self.is_open and self._is_shared.is_set() and self._can_write.is_set()

    async def wait_to_post(self, *, timeout_s: float) -> None:
        """Return when a request can be sent, or when none can any more."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._wait_for_turn()
        except TimeoutError:
            what = f"{self.name} took nothing in {timeout_s:g} s"
            self._fail(what)
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, what) from None

    def post(
        self, request: object, version: int, answered: Answered | None, *, timeout_s: float
    ) -> None:
        """Send a request now, and call `answered` as soon as the response is here.

        No task and no future is in between: this is the fast path. Without `answered` there is no
        response. Errors of the connection are raised, or passed to it once the request is sent.
        """
        if answered is None:
            self._send(request, version, _ignore)
            return
        expected = self._send(request, version, answered)
        expected.deadline_s = asyncio.get_running_loop().time() + timeout_s
        self._expected.append(expected)
        if self._watchdog is None:
            self._watch(expected.deadline_s, timeout_s)

    def _watch(self, deadline_s: float, timeout_s: float) -> None:
        """Look at the deadline whether the answer is late: one timer serves all that is posted."""
        loop = asyncio.get_running_loop()
        self._watchdog = loop.call_at(deadline_s, self._fail_if_late, timeout_s)

    def _fail_if_late(self, timeout_s: float) -> None:
        self._watchdog = None
        posted = next((each for each in self._expected if each.deadline_s < math.inf), None)
        if posted is None:
            return
        if asyncio.get_running_loop().time() < posted.deadline_s:
            self._watch(posted.deadline_s, timeout_s)
        else:
            self._expected.remove(posted)
            posted.answered(self._fail_late(API_BY_KEY[posted.api_key].name, timeout_s))

    def _fail_late(self, what: str, timeout_s: float) -> KafkaError:
        reason = f"{what} to {self.name} had no answer in {timeout_s:g} s"
        self._fail(reason)
        return KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason)

    def take_socket(self) -> socket.socket:
        """The connection as a plain socket, to be used by the caller alone; not under TLS."""
        assert self._transport.get_extra_info("ssl_object") is None, "bytes would be in the open"
        taken = cast(TransportSocket, self._transport.get_extra_info("socket")).dup()
        self.close()
        return taken

    def close(self) -> None:
        """Hang up; what still waits fails."""
        self._fail(f"the connection to {self.name} was closed")

    async def _wait_for_turn(self, *, is_alone: bool = False) -> None:
        while not is_alone and not self._is_shared.is_set():
            await self._is_shared.wait()
        await self._can_write.wait()

    def _send(self, request: object, version: int, answered: Answered) -> _Expected:
        if self._failure is not None:
            raise type(self._failure)(self._failure.code, str(self._failure))
        api_key = facts_of(type(request)).api_key
        assert api_key is not None, "only requests are sent"
        self._correlation_id = (self._correlation_id + 1) % _CORRELATION_COUNT
        header = RequestHeader(api_key, version, self._correlation_id, self._client_id)
        parts = [encode_request_header(header), *encoder_of(type(request), version)(request)]
        size = sum(map(len, parts)).to_bytes(_SIZE_BYTES, "big")
        data = b"".join([size, *parts])  # records are copied this once
        self._transport.write(data)
        self.traffic.requests += 1
        self.traffic.sent_bytes += len(data)
        return _Expected(self._correlation_id, api_key, version, answered)

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        reason = f": {why(exc)}" if exc is not None else ""
        if isinstance(exc, ssl.SSLError):
            # Since TLS 1.3 a broker judges the client's certificate only after the handshake.
            self._fail(f"{self.name} refused the TLS connection{reason}", SecurityRefused)
        elif self._expected and self._answer_count <= 1:  # at most its versions are known
            hint = "if it is not just stopping, check that security.protocol is that of the port"
            self._fail(f"{self.name} closed the connection without an answer{reason}; {hint}")
        else:
            self._fail(f"{self.name} closed the connection{reason}")

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._reader.writable()

    def buffer_updated(self, nbytes: int) -> None:
        self._reader.received(nbytes)
        self.traffic.received_bytes += nbytes
        try:
            while (frame := self._reader.next_frame()) is not None:
                self._answer(frame)
        except ProtocolError as error:
            if self._answer_count or not self._reader.begins_with(_TLS_ALERT):
                self._fail(f"{self.name} does not speak Kafka's protocol: {error}")
                return
            hint = "is it an SSL listener? check security.protocol"
            self._fail(f"{self.name} answers in TLS; {hint}", SecurityRefused)

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()

    def _answer(self, frame: memoryview) -> None:
        if not self._expected:
            raise ProtocolError("a response without a request")
        self._reader.limit_bytes = _FRAME_MAX_BYTES
        self._answer_count += 1
        expected = self._expected[0]  # which stays there to be failed if the answer is nonsense
        if expected.api_key == _NO_API:
            self._expected.popleft().answered(Frame(frame, 0))
            return
        correlation_id, position = decode_response_header(frame, expected.api_key, expected.version)
        if correlation_id != expected.correlation_id:
            raise ProtocolError(f"answer {correlation_id} instead of {expected.correlation_id}")
        self._expected.popleft()
        self.traffic.responses += 1
        expected.answered(Frame(frame, position))

    def _fail(self, reason: str, kind: type[KafkaError] = NetworkException) -> None:
        if self._failure is not None:
            return
        self._failure = kind(ErrorCode.NETWORK_EXCEPTION, reason)
        self._can_write.set()
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._transport.abort()
        self._reader.forget()
        unanswered = tuple(self._expected)
        self._expected.clear()
        for expected in unanswered:
            expected.answered(kind(ErrorCode.NETWORK_EXCEPTION, reason))


def _setter(frame: asyncio.Future[Frame]) -> Answered:
    """Sets a future, unless it is done: its caller may not wait any more."""

    def settle(answer: Frame | KafkaError) -> None:
        if frame.done():
            return
        if isinstance(answer, KafkaError):
            frame.set_exception(answer)
        else:
            frame.set_result(answer)

    return settle


def _ignore(_answer: Frame | KafkaError) -> None:
    """Nothing is expected."""
