"""What a connection and the code that answers its requests agree on."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from moldau.net.request_memory import RequestMemory
from moldau.runtime.file_range import FileRange

Part = bytes | bytearray | memoryview | FileRange
Answer = list[Part] | None


@dataclass(frozen=True, slots=True)
class Later:
    """The request has done its work, and its frame is no longer needed; only the answer waits.

    The next request of the same kind may begin before that. No part of such an answer is in a
    file.
    """

    rest: Coroutine[Any, Any, Any]
    """Comes to the answer."""


class Promised:
    """Like `Later`, without a coroutine: the object that promised the answer completes it."""

    __slots__ = ("notify", "outcome")
    outcome: "list[Part] | Exception | None"
    """None until the promise is kept."""
    notify: "Callable[[Promised], None]"
    """Set by the connection, and called once when there is an outcome; does nothing at once."""

    def __init__(self) -> None:
        self.outcome = None

    def cancel(self) -> None:
        """No client waits for the answer any more, or it has been passed on."""
        raise NotImplementedError


class Parked:
    """A request that waits without a coroutine: the connection asks for its answer in the end.

    Its frame is kept until then.
    """

    __slots__ = ("otherwise", "unpark")
    otherwise: "Callable[[], Outcome]"
    """Answers the request after all, if the answer is None."""
    unpark: Callable[[], None]
    """Set by the connection, and called once when the answer can be asked for."""

    def answer(self) -> Answer:
        """The answer, None if it must be given otherwise."""
        raise NotImplementedError

    def cancel(self) -> None:
        """No client waits for the answer any more."""
        raise NotImplementedError


Outcome = Answer | Later | Promised | Parked | Coroutine[Any, Any, Answer | Later]
Respond = Callable[[memoryview], Outcome]
"""Answers a frame: at once, or by a coroutine if that has to wait."""


class CloseConnection(Exception):
    """Raised while answering a request when the connection can only be closed.

    The reason is for the log, unless it is empty; `last_words` are sent before.
    """

    def __init__(self, reason: str = "", last_words: bytes = b"") -> None:
        super().__init__(reason)
        self.last_words = last_words


@dataclass(frozen=True, slots=True)
class Limits:
    """What one connection may take."""

    frame_size_bytes: int = 104_857_600
    # All others hold lists of names: a small frame of those is much work already.
    large_api_keys: frozenset[int] | None = None
    list_frame_size_bytes: int = 104_857_600
    receive_buffer_bytes: int = 65_536
    # Bytes that may wait in user space for a client that does not read its answers.
    unsent_bytes: int = 1_048_576
    # After so many pipelined requests the other connections get their turn.
    requests_per_turn: int = 32
    # Requests that have done their work and wait for their answers.
    unanswered_requests: int = 64
    # SO_SNDBUF and SO_RCVBUF; None leaves them to the operating system.
    socket_send_bytes: int | None = None
    socket_receive_bytes: int | None = None
    # Shorter file ranges are copied: a sendfile costs more than the copy.
    sendfile_threshold_bytes: int = 32_768
    # What requests that are larger than the receive buffer share; None is no bound.
    request_memory: RequestMemory | None = None
