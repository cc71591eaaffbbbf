"""Format strings with kcat's codes: '%T %k: %s\\n'."""

import json
import re
import struct
from collections.abc import Callable, Mapping

from moldau.cli.terminal.failure import CommandFailed
from moldau.client.record import ConsumerRecord

Record = ConsumerRecord[bytes, bytes]
Part = bytes | Callable[[Record], bytes]

_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\"}
_TOKEN = re.compile(r"%(.)|\\x([0-9a-fA-F]{2})|\\(.)|([^%\\]+)", re.DOTALL)


def _size(data: bytes | None) -> bytes:
    return b"-1" if data is None else b"%d" % len(data)


def _headers(record: Record) -> bytes:
    return b",".join(
        name.encode() + b"=" + (b"NULL" if value is None else value)
        for name, value in record.headers
    )


_CODES: dict[str, Part] = {
    "S": lambda record: _size(record.value),
    "R": lambda record: struct.pack(">i", -1 if record.value is None else len(record.value)),
    "K": lambda record: _size(record.key),
    "T": lambda record: b"%d" % record.timestamp,
    "h": _headers,
    "t": lambda record: record.topic.encode(),
    "p": lambda record: b"%d" % record.partition,
    "o": lambda record: b"%d" % record.offset,
    "%": b"%",
}


def compile_format(text: str, *, null: bytes = b"") -> Callable[[Record], bytes]:
    """A function that prints a record as the format says, and `null` for what is not there."""
    codes = _CODES | {
        "s": lambda record: null if record.value is None else record.value,
        "k": lambda record: null if record.key is None else record.key,
    }
    parts = [_part(match, codes) for match in _TOKEN.finditer(text)]

    def write(record: Record) -> bytes:
        return b"".join(part if isinstance(part, bytes) else part(record) for part in parts)

    return write


def as_json(record: Record) -> bytes:
    """A record in kcat's JSON envelope, on one line."""
    data: dict[str, object] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "tstype": "create",
        "ts": record.timestamp,
    }
    if record.headers:
        data["headers"] = [text for name, value in record.headers for text in (name, _text(value))]
    data |= {"key": _text(record.key), "payload": _text(record.value)}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _part(match: re.Match[str], codes: Mapping[str, Part]) -> Part:
    code, hexadecimal, escape, plain = match.groups()
    if plain is not None:
        return plain.encode()
    if hexadecimal is not None:
        return bytes.fromhex(hexadecimal)
    if escape is not None:
        return _ESCAPES.get(escape, f"\\{escape}".encode())
    if code not in codes:
        raise CommandFailed(f"there is no code %{code}; there is {' '.join(codes)}")
    return codes[code]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")
