"""What a connection and whoever answers its requests agree on."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from moldau.runtime.file_range import FileRange

Part = bytes | bytearray | memoryview | FileRange
Answer = list[Part] | None
Respond = Callable[[memoryview], Answer | Coroutine[Any, Any, Answer]]
"""Answers a frame: at once, or by a coroutine if that has to wait."""


class CloseConnection(Exception):
    """Raised while answering a request when the only answer is to hang up."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one connection may take."""

    frame_size_bytes: int = 104_857_600
    receive_buffer_bytes: int = 65_536
    # Bytes that may wait in user space for a client that does not read its answers.
    unsent_bytes: int = 1_048_576
    # After so many pipelined requests the other connections get their turn.
    requests_per_turn: int = 32
    # SO_SNDBUF and SO_RCVBUF; None leaves them to the operating system.
    socket_send_bytes: int | None = None
    socket_receive_bytes: int | None = None
    # Shorter file ranges are copied: a sendfile costs more than the copy.
    sendfile_threshold_bytes: int = 32_768
