"""Frames of PostgreSQL's streaming replication protocol, and log sequence numbers.

The server sends `w` (a piece of the log) and `k` (how far it is); the client answers `r`: what it
has written, flushed and applied. Numbers are big-endian, times microseconds since 2000-01-01.
"""

import struct
from dataclasses import dataclass

from moldau.errors import ProtocolError

EPOCH_2000_US = 946_684_800_000_000
"""When PostgreSQL's times begin."""
_DATA, _KEEPALIVE = struct.Struct(">qqq"), struct.Struct(">qqB")
_STATUS = struct.Struct(">cqqqqB")
_LSN_MAX = 2**63 - 1


@dataclass(slots=True)
class LogData:
    """A message of the output plugin."""

    lsn: int
    """Where in the log it is from; 0 for what describes tables."""
    payload: bytes


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """The server has sent everything before `end_lsn`."""

    end_lsn: int
    wants_reply: bool


def parse_frame(data: bytes) -> LogData | KeepAlive:
    """What the server sent; ProtocolError for anything else."""
    kind = data[:1]
    if kind == b"w" and len(data) > 1 + _DATA.size:
        return LogData(_DATA.unpack_from(data, 1)[0], data[1 + _DATA.size :])
    if kind == b"k" and len(data) == 1 + _KEEPALIVE.size:
        end_lsn, _, wants_reply = _KEEPALIVE.unpack_from(data, 1)
        return KeepAlive(end_lsn, bool(wants_reply))
    raise ProtocolError(f"replication: {len(data)} bytes of kind {kind!r} are no frame")


def status_update(flushed_lsn: int, now_us: int) -> bytes:
    """Confirm to the server that everything before this is stored, and may be thrown away."""
    assert 0 <= flushed_lsn <= _LSN_MAX, flushed_lsn
    return _STATUS.pack(b"r", flushed_lsn, flushed_lsn, flushed_lsn, now_us - EPOCH_2000_US, 0)


def lsn_text(lsn: int) -> str:
    """As PostgreSQL prints it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def lsn_of(text: str) -> int:
    """The number of such a text."""
    high, _, low = text.partition("/")
    try:
        return (int(high, 16) << 32) + int(low, 16)
    except ValueError as error:
        raise ProtocolError(f"{text!r} is no log sequence number: {error}") from error
