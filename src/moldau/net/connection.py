# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One client connection: frames in, answers out, in order.

This file runs as it stands and is also compiled as `_connection`; `_connection.pxd` then gives
its variables C types.
"""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol, cast

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.net.answer import (
    Answer,
    CloseConnection,
    Later,
    Limits,
    Parked,
    Part,
    Promised,
    Respond,
)
from moldau.net.answer import Outcome as Begun
from moldau.net.unanswered import Outcome, Unanswered
from moldau.runtime import eager

if not cython.compiled:
    from moldau.net.outgoing import OutgoingAnswers
    from moldau.net.receive_buffer import ReceiveBuffer

if TYPE_CHECKING:
    from moldau.net.sockets import SocketTransport

_log = logging.getLogger(__name__)

SIZE_BYTES = 4
KIND_BYTES = 4  # a request begins with its API key and version
NO_KIND = -1  # of a frame that is too short for one
_LINGER_NOT = struct.pack("ii", 1, 0)


class Owner(Protocol):
    """The listener that accepted the connection."""

    def opened(self, connection: "Connection") -> None:
        """The connection stands."""

    def closed(self, connection: "Connection") -> None:
        """The connection is gone."""


Open = Callable[["Connection"], Respond]
"""Called when a connection is made: what answers it may keep state for it."""
RefuseFrame = Callable[[], Coroutine[Any, Any, None]]
"""Ends a connection that sends too large a frame, in its own time."""


def _answer_nothing(_frame: memoryview) -> None:
    """A client that has gone is answered no more."""


class Connection:
    """Reads frames into a buffer of its own and answers them strictly in order.

    Kafka mutes a channel from the moment a request is read until its answer is
    written; here `_is_busy` does the same, so what a client pipelines waits in this
    buffer and then in the socket. The view given to `respond` is on this buffer and
    is valid until the answer is returned; nothing may keep it longer.

    Only a request whose answer is `Later` or `Promised` lets others of its kind begin before:
    produced records that wait for other replicas do not hold back the next ones.

    The buffer grows with the bytes that arrive, never to the size that was only
    announced.
    """

    def __init__(self, owner: Owner, opening: Open, limits: Limits) -> None:
        self._owner = owner
        self._opening = opening
        self._respond: Respond
        self._refuse_frame: RefuseFrame | None = None
        self._limits = limits
        self._frame_size_max = limits.frame_size_bytes
        self._list_frame_size_max = limits.list_frame_size_bytes
        self._requests_per_turn = limits.requests_per_turn
        self._memory = limits.request_memory
        self._memory_bytes = 0  # taken for the request that is received or handled
        self._loop = asyncio.get_running_loop()
        self._received = ReceiveBuffer(limits.receive_buffer_bytes, limits.frame_size_bytes)
        self._outgoing = OutgoingAnswers(limits.sendfile_threshold_bytes)
        self._task: asyncio.Task[None] | None = None
        self._parked: Parked | None = None
        self._parked_size = 0  # of its frame, which ends where the next one begins
        self._unanswered: Unanswered | None = None
        self._unanswered_kind = 0
        self._has_unanswered = False
        self._is_held_back = False
        self._is_failing = False  # once the answers before it are given
        self._is_busy = False
        self._is_write_blocked = False
        self._is_read_paused = False
        self._is_muted = False
        self._unmuting: asyncio.TimerHandle | None = None
        self._is_turn_scheduled = False
        self.transport: asyncio.Transport | SocketTransport
        # Read by the listener's sweep, which enforces the deadlines of all connections.
        self.last_activity_s = self._loop.time()
        self.frame_began_s: float | None = None
        self.write_blocked_since_s: float | None = None
        self.closing_since_s: float | None = None  # as the sweep has seen it
        self.unknown_since_s: float | None = None  # while the client is to say who it is
        self.has_hung_up = False

    # What asyncio calls

    def connection_made(self, transport: "asyncio.BaseTransport | SocketTransport") -> None:
        self.transport = cast("asyncio.Transport | SocketTransport", transport)
        self._outgoing.attach(self.transport)
        self.transport.set_write_buffer_limits(high=self._limits.unsent_bytes)
        self._set_socket_options()
        self._respond = self._opening(self)
        self._owner.opened(self)

    def _set_socket_options(self) -> None:
        connected = self.transport.get_extra_info("socket")
        # So that a client whose machine has gone without a FIN is noticed in the end.
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, size in (
            (socket.SO_SNDBUF, self._limits.socket_send_bytes),
            (socket.SO_RCVBUF, self._limits.socket_receive_bytes),
        ):
            if size is not None:
                connected.setsockopt(socket.SOL_SOCKET, option, size)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if self._task is not None:
            self._task.cancel()
        if self._parked is not None:
            self._parked.cancel()
        if self._unanswered is not None:
            self._unanswered.cancel()
        self._is_busy = True  # nothing more is handled
        self._let_go()
        if self._memory is not None:
            self._memory.forget(self)
            self._give_memory_back()
        self._owner.closed(self)

    def _let_go(self) -> None:
        """Keep no memory, and nothing that refers to this connection.

        It would stay until Python's collector comes, which is long for a hundred megabytes.
        Code that still works on a frame keeps the buffer alive by its view.
        """
        self._received.forget()
        self._outgoing.forget()
        self._parked = self._unanswered = None
        self._has_unanswered = False
        self._respond = _answer_nothing
        if self._unmuting is not None:
            self._unmuting.cancel()
            self._unmuting = None
        self._refuse_frame = None

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._received.free()

    def buffer_updated(self, nbytes: int) -> None:
        self._received.end += nbytes
        self.last_activity_s = self._loop.time()
        self.turn()

    def pause_writing(self) -> None:
        self._is_write_blocked = True
        self.write_blocked_since_s = self._loop.time()
        self.frame_began_s = None  # what comes in now waits for us, not for the client

    def resume_writing(self) -> None:
        self._is_write_blocked = False
        self.write_blocked_since_s = None
        self.turn()

    def hung_up(self) -> None:
        """The client has gone, but not all that it sent is read: a request is in the way."""
        self.has_hung_up = True

    # What answers requests may call

    def restrict(self, frame_size_max: int, refuse: RefuseFrame) -> None:
        """Take no larger frames until the client is known."""
        self._frame_size_max = min(frame_size_max, self._limits.frame_size_bytes)
        self._refuse_frame = refuse

    def trust(self, respond: Respond) -> None:
        """Take frames as large as the listener does, and have them answered by this one."""
        self._frame_size_max = self._limits.frame_size_bytes
        self._refuse_frame = None
        self.unknown_since_s = None
        self._respond = respond

    # What the listener calls

    @property
    def is_read_paused(self) -> bool:
        """Whether the client sends more while it waits than is kept for it."""
        return self._is_read_paused and not self._is_muted

    @property
    def is_idle(self) -> bool:
        """No request is being handled and no part of one has arrived, which it might have."""
        is_waiting = self._is_busy or self._has_unanswered or self._is_muted
        return not is_waiting and self._received.start == self._received.end

    def shrink(self) -> None:
        """Give back the memory that a large request needed, unless the next one needs it too."""
        if not self._is_busy:
            self._received.shrink()

    def abort(self) -> None:
        """Hang up without sending what is still buffered."""
        if self._outgoing.is_sending_file and self._task is not None:
            # The loop must let go of the socket first: see outgoing.py.
            self._task.cancel()
        else:
            self.transport.abort()

    def reset(self) -> None:
        """Hang up on one that does not read: even the kernel forgets what it did not take."""
        connected = self.transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        self.abort()

    # Quotas

    def mute(self, for_ms: int) -> None:
        """Read nothing more for so long; what is answered by then still goes out (KIP-219)."""
        until_s = self._loop.time() + for_ms / 1000
        if self._unmuting is not None:
            if until_s <= self._unmuting.when():
                return
            self._unmuting.cancel()
        self._is_muted = True
        self.frame_began_s = None  # the rest of it waits for us
        self._unmuting = self._loop.call_at(until_s, self.unmute)

    def unmute(self) -> None:
        """The client has waited long enough; from now on it is the one that is waited for."""
        self._unmuting = None
        self._is_muted = False
        self.last_activity_s = self._loop.time()
        if not self.transport.is_closing():
            self.turn()

    # Requests

    def turn(self) -> None:
        """Handle the complete frames at hand, then make room for the next bytes."""
        self._is_turn_scheduled = False
        handled = 0
        while not self._is_busy and not self._is_write_blocked and not self._is_muted:
            if handled == self._requests_per_turn:
                if not self._is_turn_scheduled:
                    self._is_turn_scheduled = True
                    self._loop.call_soon(self.turn)
                break
            self._is_held_back = self._has_unanswered and not self._may_begin()
            if self._is_held_back:
                self.frame_began_s = None  # it may be complete, and waits for us
                break
            frame = self._take_frame()
            if frame is None:
                break
            handled += 1
            self._begin(frame)
        self._outgoing.flush()
        self._make_room()

    def _take_frame(self) -> memoryview | None:
        received = self._received
        waiting = received.end - received.start
        if waiting < SIZE_BYTES:
            self.frame_began_s = None if waiting == 0 else self.last_activity_s
            return None
        size = received.int_at(received.start)
        if (
            size < 0
            or size > self._frame_size_max
            or (size > self._list_frame_size_max and self._is_long_list())
        ):
            _log.info("closing %s: a frame of %d bytes is not allowed", self.peer, size)
            self._is_busy = True
            if self._refuse_frame is None:
                self.abort()
            else:
                self._settle(self._refuse_frame(), 0)
            return None
        if waiting - SIZE_BYTES < size:
            self.frame_began_s = self.frame_began_s or self.last_activity_s
            return None
        self.frame_began_s = None
        return received.take(SIZE_BYTES, size)

    def _is_long_list(self) -> bool:
        """Whether a request, larger than lists may be, is of an API that has only those."""
        large, received = self._limits.large_api_keys, self._received
        start = received.start + SIZE_BYTES
        if large is None or received.end < start + KIND_BYTES:
            return False  # its kind has not come yet
        return received.int_at(start) >> 16 not in large

    def _may_begin(self) -> bool:
        """Whether the next request need not wait for the answers before it."""
        assert self._unanswered is not None
        if len(self._unanswered) >= self._limits.unanswered_requests:
            return False
        received = self._received
        start = received.start + SIZE_BYTES
        if received.end < start + KIND_BYTES:
            return True  # it has not come yet
        return received.int_at(start) == self._unanswered_kind

    def _begin(self, frame: memoryview) -> None:
        self._is_busy = True
        try:
            answer = self._respond(frame)
        except Exception as error:  # noqa: BLE001 - the top frame of a request
            self._fail_in_order(error)
            answer = None
        self._settle(answer, len(frame))

    def unpark(self) -> None:
        """A request that was parked can be answered."""
        parked, self._parked = self._parked, None
        if parked is None or self.transport.is_closing():
            return
        try:
            answer = parked.answer()
            outcome = parked.otherwise() if answer is None else answer
        except Exception as error:  # noqa: BLE001 - the top frame of a request
            self._fail_in_order(error)
            outcome = None
        self._settle(outcome, self._parked_size)
        if not self._is_busy:
            self.turn()

    def _settle(self, answer: "Begun", frame_size: int) -> None:
        """Send an answer, or see to it that it is sent."""
        if isinstance(answer, list) and self._has_unanswered:
            self._queue(answer)
            self._is_busy = self.transport.is_closing()
        elif answer is None or (isinstance(answer, list) and self._outgoing.take(answer)):
            self._is_busy = self.transport.is_closing() or self._is_failing
        elif isinstance(answer, list):
            rest = answer if self._is_write_blocked else self._outgoing.send_at_once(answer)
            if rest:
                self._run(self._deliver(rest))
            else:
                self._is_busy = self.transport.is_closing()
        elif isinstance(answer, Parked):
            answer.unpark = self.unpark
            self._parked, self._parked_size = answer, frame_size
        else:
            self._unanswered_kind = self._kind(frame_size)
            if isinstance(answer, (Promised, Later)):
                self._queue(answer)
                self._is_busy = self.transport.is_closing()
            else:
                self._run(self._exchange(answer))

    def _kind(self, frame_size: int) -> int:
        """API key and version of the request that is handled: the frame before what waits."""
        if frame_size < KIND_BYTES:
            return NO_KIND
        start = self._received.start - frame_size
        assert start >= 0, "a frame does not move while it is handled"
        return self._received.int_at(start)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Go on with a request that may have to wait."""
        outcome = eager.start(work)
        if isinstance(outcome, eager.Waiting):
            self._outgoing.flush()
            self._task = self._loop.create_task(outcome.rest)
            self._task.add_done_callback(self.finished)
        else:
            self._is_busy = self.transport.is_closing() or self._is_failing

    def finished(self, task: asyncio.Task[None]) -> None:
        """A request that had to wait has been answered."""
        self._task = None
        if self.transport.is_closing():
            return
        if task.cancelled():  # by what it waited for: no answer will come, and none behind it
            self.abort()
            return
        self._is_busy = self._is_failing
        self.turn()

    async def _exchange(self, answer: Coroutine[Any, Any, Answer | Later]) -> None:
        try:
            parts = await answer
        except Exception as error:  # noqa: BLE001 - the top frame of a request
            self._fail_in_order(error)
        else:
            if isinstance(parts, Later) or (self._has_unanswered and parts is not None):
                self._queue(parts)
            elif parts is not None:
                await self._deliver(parts)

    async def _deliver(self, parts: list[Part]) -> None:
        try:
            await self._outgoing.send(parts, self)
        except Exception as error:  # noqa: BLE001 - the top frame of a request
            self._fail(error)

    def _queue(self, outcome: Outcome | Later | Promised) -> None:
        if self._unanswered is None:
            self._unanswered = Unanswered(self.deliver_next, self.resume)
        self._has_unanswered = True
        self._unanswered.add(outcome)

    def deliver_next(self, outcome: Outcome) -> None:
        """An answer whose turn it is."""
        if isinstance(outcome, Exception):
            self._fail(outcome)
        elif outcome is not None:
            is_taken = self._outgoing.take(outcome)
            assert is_taken, "such answers are in memory"

    def resume(self) -> None:
        """Answers have been given that others waited for."""
        self._has_unanswered = bool(self._unanswered)
        if not self.transport.is_closing():
            self.turn()

    def _fail_in_order(self, error: Exception) -> None:
        """A request could not be answered: close after the answers before it are sent."""
        if self._has_unanswered:
            self._is_failing = True
            self._queue(error)
        else:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """A request could not be answered: close, after what was answered before it if possible."""
        if isinstance(error, CloseConnection):
            if str(error):
                _log.info("closing %s: %s", self.peer, error)
            if error.last_words:
                self._outgoing.add(error.last_words)
            self._outgoing.flush()
            self.transport.close()
            return
        if isinstance(error, OSError):
            _log.info("closing %s: %s", self.peer, error)
        else:
            _log.error("closing %s: a request could not be answered", self.peer, exc_info=error)
        self.abort()

    # What sends files calls

    def begins_piece(self) -> None:
        """Part of a file goes out: the deadline of one who does not read begins anew."""
        self.write_blocked_since_s = self._loop.time()

    def sent_file(self) -> None:
        """The file is out."""
        if not self._is_write_blocked:
            self.write_blocked_since_s = None
        if self._is_read_paused:
            # asyncio pauses reading while it sends a file, and then resumes it unasked.
            self.transport.pause_reading()

    # The receive buffer

    def _make_room(self) -> None:
        """Keep at least one free byte to receive into, or stop receiving.

        While a request is handled its bytes must not move, so a full buffer waits.
        """
        received = self._received
        if self._memory_bytes and received.start > 0 and not self._is_busy:
            self._give_memory_back()
        if self._is_muted:
            self._pause_reading()
            return
        if received.start == received.end and not self._is_busy:
            received.start = received.end = 0
        elif received.end == received.size:
            if self._is_busy or self._is_write_blocked or self._is_held_back:
                self._pause_reading()
                return
            if self._memory is not None and received.must_grow() and not self._has_memory():
                self.frame_began_s = None  # it is the broker that does not take it
                self._pause_reading()
                return
            received.make_room()
        if self._is_read_paused:
            self._is_read_paused = False
            self.transport.resume_reading()

    def _pause_reading(self) -> None:
        if not self._is_read_paused and not self.transport.is_closing():
            self._is_read_paused = True
            self.transport.pause_reading()

    def _has_memory(self) -> bool:
        """Whether the buffer may grow for the request that begins it."""
        if self._memory_bytes == 0:
            assert self._memory is not None
            size = self._received.int_at(0)
            if self._memory.take(self, size):
                self._memory_bytes = size
        return self._memory_bytes > 0

    def _give_memory_back(self) -> None:
        assert self._memory is not None
        size, self._memory_bytes = self._memory_bytes, 0
        self._memory.give_back(size)

    @property
    def peer(self) -> str:
        """The client's address, for messages."""
        name = self.transport.get_extra_info("peername")
        return f"{name[0]}:{name[1]}" if name else "a closed connection"
