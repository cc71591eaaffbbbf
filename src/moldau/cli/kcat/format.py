"""Format strings with kcat's codes: '%T %k: %s\\n'."""

import json
import re
import struct
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from moldau.cli.kcat.packing import Unpack
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.record import ConsumerRecord
from moldau.model import TopicPartition

Record = ConsumerRecord[bytes, bytes]
Part = bytes | Callable[[Record], bytes]

_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\"}
_TOKEN = re.compile(r"%(.)|\\x([0-9a-fA-F]{2})|\\(.)|([^%\\]+)", re.DOTALL)


@dataclass(slots=True)
class RecordPlace:
    """What is known of records by where they come from."""

    leaders: Mapping[TopicPartition, int] = field(default_factory=dict)
    stamped: Collection[str] = ()
    """The topics whose times are of the broker."""


def _as_it_is(data: bytes) -> bytes:
    return data


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


def compile_format(
    text: str, *, null: bytes = b"", unpack: Mapping[str, Unpack] | None = None
) -> Callable[[Record], bytes]:
    """A function that prints a record as the format says, and `null` for what is not there."""
    unpack = unpack or {}
    read_key, read_value = (unpack.get(name, _as_it_is) for name in ("key", "value"))
    codes = _CODES | {
        "s": lambda record: null if record.value is None else read_value(record.value),
        "k": lambda record: null if record.key is None else read_key(record.key),
    }
    parts = [_part(match, codes) for match in _TOKEN.finditer(text)]

    def write(record: Record) -> bytes:
        try:
            return b"".join(part if isinstance(part, bytes) else part(record) for part in parts)
        except ValueError as error:
            raise _failed(record, error) from None

    return write


def unescaped(text: str) -> bytes:
    """What stands for a separator, as \\t or \\x3b."""
    parts = (_part(match, {}) for match in _TOKEN.finditer(text.replace("%", r"\x25")))
    return b"".join(part for part in parts if isinstance(part, bytes))


def as_json(
    record: Record,
    place: RecordPlace | None = None,
    registered: Mapping[str, Unpack] | None = None,
) -> bytes:
    """A record in kcat's JSON envelope, on one line; what is registered as the JSON that it is."""
    place, registered = place or RecordPlace(), registered or {}
    data: dict[str, object] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "tstype": "logappend" if record.topic in place.stamped else "create",
        "ts": record.timestamp,
        "broker": place.leaders.get(record.topic_partition, -1),
    }
    if record.headers:
        data["headers"] = [text for name, value in record.headers for text in (name, _text(value))]
    for name, part, content in (("key", "key", record.key), ("payload", "value", record.value)):
        read = registered.get(part)
        try:
            if read is None or content is None:
                data[name] = _text(content)
            else:
                data[name] = json.loads(read(content))
        except ValueError as error:
            raise _failed(record, error) from None
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _failed(record: Record, error: ValueError) -> CommandFailed:
    return CommandFailed(
        f"% ERROR: Failed to format message in {record.topic} [{record.partition}] "
        f"at offset {record.offset}: {error}"
    )


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
