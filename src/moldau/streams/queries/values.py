"""Bytes of keys and values to plain Python values and back, one at a time."""

import json
import struct
from collections.abc import Callable, Hashable
from typing import NamedTuple

from moldau.streams.serdes import (
    FormatSerde,
    JsonColumnSerde,
    PlainColumnSerde,
    Serde,
    WindowedSerde,
)

Decoder = Callable[[bytes], object]


class WindowedKey(NamedTuple):
    """A key in a window; only sessions write down where they end."""

    key: Hashable
    start_ms: int
    end_ms: int | None = None


def decoder(serde: Serde) -> Decoder:
    """What reads the bytes of this serde; ValueError if they are of another."""
    match serde:
        case PlainColumnSerde():
            return _PLAIN[serde.name]
        case JsonColumnSerde():
            return json.loads
        case FormatSerde():
            return lambda data: _in_format(serde, data)
        case WindowedSerde():
            return lambda data: _windowed(serde, data)


def encode(serde: Serde, value: object) -> bytes:
    """A key or a value in the bytes of its serde; ValueError if it is of another type."""
    match serde, value:
        case PlainColumnSerde("bytes"), bytes():
            return value
        case PlainColumnSerde("string"), str():
            return value.encode()
        case PlainColumnSerde("long" | "integer"), int():
            return value.to_bytes(8 if serde.name == "long" else 4, "big", signed=True)
        case JsonColumnSerde(), _:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        case WindowedSerde(inner, is_session), (key, int(start_ms), *rest):
            times = [*rest, start_ms] if is_session else [start_ms]
            return encode(inner, key) + struct.pack(f">{len(times)}q", *times)
        case FormatSerde(), _:
            return _to_format(serde, value)
        case _:
            raise ValueError(f"{value!r} cannot be written by {serde}")


def as_json(value: object) -> object:
    """The value with nothing in it that JSON does not have; bytes become text, or base16."""
    match value:
        case WindowedKey(key, start_ms, None):
            return {"key": as_json(key), "start": start_ms}
        case WindowedKey(key, start_ms, end_ms):
            return {"key": as_json(key), "start": start_ms, "end": end_ms}
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return value.hex()
        case dict():
            return {str(name): as_json(each) for name, each in value.items()}
        case list() | tuple():
            return [as_json(each) for each in value]
        case None | str() | int() | float():
            return value
        case _:
            return str(value)


def _number(length: int) -> Decoder:
    def read(data: bytes) -> object:
        if len(data) != length:
            raise ValueError(f"a number of {length} bytes has {len(data)}")
        return int.from_bytes(data, "big", signed=True)

    return read


_PLAIN: dict[str, Decoder] = {
    "bytes": bytes,
    "string": lambda data: data.decode(),
    "long": _number(8),
    "integer": _number(4),
}


def _windowed(serde: WindowedSerde, data: bytes) -> WindowedKey:
    """Kafka writes the start after the key; of a session the end, then the start."""
    times = struct.Struct(">qq" if serde.is_session else ">q")
    if len(data) < times.size:
        raise ValueError(f"a key in a window has only {len(data)} bytes")
    found = times.unpack(data[-times.size :])
    key = hashable(decoder(serde.inner)(data[: -times.size]))
    return WindowedKey(key, found[-1], found[0] if serde.is_session else None)


def hashable(key: object) -> Hashable:
    """A key to look up by; objects of JSON by their text, with fields in order."""
    if isinstance(key, dict | list):
        return json.dumps(as_json(key), sort_keys=True)
    assert isinstance(key, Hashable)
    return key


def _in_format(serde: FormatSerde, data: bytes) -> object:
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and plain values need none

    decoded: list[object] = serde.format.decode(pa.array([data], pa.binary())).to_pylist()
    return decoded[0]


def _to_format(serde: FormatSerde, value: object) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and plain values need none

    encoded: bytes = serde.format.encode(pa.array([value], serde.format.type))[0].as_py()
    return encoded
