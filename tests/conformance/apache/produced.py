"""Record sets that a Produce request may carry: right, wrong in one way each, and hostile."""

import dataclasses
import gzip
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from conformance.apache.samples import NOW_MS, SMALL
from moldau.records.batch import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    NO_PRODUCER,
    RECORDS_POSITION,
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    assemble_batch,
    write_batch,
)
from moldau.records.compression import Codec, compress
from moldau.records.legacy import Message, write_message, write_message_set
from moldau.records.record import Record, append_varint, encode_records

NEWEST = 11
Data = bytes | bytearray


@dataclass(frozen=True, slots=True)
class Produced:
    """One partition's part of a Produce request, with the settings of its topic."""

    name: str
    data: Data
    version: int = NEWEST
    config: Mapping[str, str] = field(default_factory=dict)


def produced() -> Iterator[Produced]:
    """Every case."""
    yield from _right()
    yield from _wrong_sets()
    yield from _wrong_headers()
    yield from _wrong_records()
    yield from _wrong_compression()
    yield from _timestamps()
    yield from _sizes()
    yield from _old_sets()


def _right() -> Iterator[Produced]:
    append_time = {"message.timestamp.type": "LogAppendTime"}
    compact = {"cleanup.policy": "compact"}
    keyed = [Record(0, NOW_MS, b"key", None), Record(1, NOW_MS, b"", b"value")]
    for codec in Codec:
        name = codec.name.lower()
        data = write_batch(SMALL, attributes=codec)
        yield Produced(f"{name} batch", data)
        yield Produced(f"{name} batch, version 7", data, version=7)
        yield Produced(f"{name} batch, log-append time", data, config=append_time)
        yield Produced(
            f"{name} batch, keyed, compacted topic",
            write_batch(keyed, attributes=codec),
            config=compact,
        )
        for kept in ("gzip", "snappy", "lz4", "zstd", "uncompressed"):
            yield Produced(
                f"{name} batch, topic in {kept}", data, config={"compression.type": kept}
            )
    producer = Producer(7, 0, 0)
    yield Produced("idempotent", write_batch(SMALL, producer=producer))
    yield Produced("transactional", write_batch(SMALL, attributes=TRANSACTIONAL, producer=producer))


def _wrong_sets() -> Iterator[Produced]:
    batch = write_batch(SMALL)
    yield Produced("no bytes", b"")
    yield Produced("no bytes, version 2", b"", version=2)
    yield Produced("half a batch", batch[:40])
    yield Produced("a prefix", batch[:12])
    yield Produced("two batches", batch + batch)
    yield Produced("two batches, version 2", batch + batch, version=2)
    yield Produced("a batch and a half", batch + batch[:50])
    yield Produced("a batch and seven bytes", batch + bytes(7))
    for difference in (-1, 1, -80, 2**20):
        yield Produced(
            f"length off by {difference}", _with_length(batch, len(batch) - 12 + difference)
        )
    for length in (0, 13, 14, 48, 49, -1, -(2**31)):
        yield Produced(f"length {length}", _with_length(batch, length))
    for magic in (0, 1, 3, 127, 255):
        yield Produced(f"magic byte {magic}", _with_byte(batch, 16, magic))
    yield Produced("batch in version 2", batch, version=2)
    yield Produced("batch in version 0", batch, version=0)
    yield Produced("zstd below version 7", write_batch(SMALL, attributes=Codec.ZSTD), version=6)


def _wrong_headers() -> Iterator[Produced]:
    batch = write_batch(SMALL)
    yield Produced("wrong checksum", _with_byte(batch, 20, batch[20] ^ 1))
    yield Produced("changed value", _with_byte(batch, len(batch) - 3, batch[-3] ^ 1))
    yield Produced("base offset 1", write_batch(_moved(1), base_offset=1))
    yield Produced("base offset -1", _changed(base_offset=-1))
    yield Produced("leader epoch 5", _changed(leader_epoch=5))
    for count in (4, 6, 0, -1, 2**31 - 1):
        yield Produced(f"record count {count}", _changed(record_count=count))
    for delta in (3, 5, 0, -1, 2**31 - 1):
        yield Produced(f"last offset delta {delta}", _changed(last_offset_delta=delta))
    yield Produced("last offset delta and count 6", _changed(last_offset_delta=5, record_count=6))
    yield Produced("control", _changed(attributes=CONTROL))
    yield Produced(
        "control and transactional",
        _changed(attributes=CONTROL | TRANSACTIONAL, producer_id=1, producer_epoch=0),
    )
    yield Produced("delete horizon", _changed(attributes=DELETE_HORIZON))
    yield Produced("log-append time by the client", _changed(attributes=LOG_APPEND_TIME))
    yield Produced("unknown attribute", _changed(attributes=0x4000))
    yield Produced("transactional without producer", _changed(attributes=TRANSACTIONAL))
    yield Produced("producer without sequence", _changed(producer_id=7, producer_epoch=0))
    yield Produced(
        "producer without epoch", _changed(producer_id=7, producer_epoch=-1, base_sequence=0)
    )
    yield Produced("sequence without producer", _changed(base_sequence=0))
    yield Produced(
        "sequence not from 0", _changed(producer_id=7, producer_epoch=0, base_sequence=3)
    )
    yield Produced("producer id -2", _changed(producer_id=-2, producer_epoch=0, base_sequence=0))
    yield Produced("max timestamp too small", _changed(max_timestamp=NOW_MS))
    yield Produced("max timestamp too large", _changed(max_timestamp=NOW_MS + 2**40))


def _wrong_records() -> Iterator[Produced]:
    section = bytes(encode_records(SMALL, base_offset=0, base_timestamp=NOW_MS))
    wrong = {
        "a record missing": section[: section.index(b"no key")],
        "byte after the last record": section + b"\0",
        "record cut off": section[:-1],
        "record length one more": _with_byte(section, 0, section[0] + 2),
        "record length one less": _with_byte(section, 0, section[0] - 2),
        "record length negative": _with_byte(section, 0, 1),
        "no bytes": b"",
        "varints without end": b"\xff" * 40,
    }
    one = {
        "key length -2": _row(key_size=-2),
        "key length beyond": _row(key_size=1000),
        "value length -2": _row(value_size=-2),
        "value length beyond": _row(value_size=2**31 - 1),
        "header count -1": _row(header_count=-1),
        "header count beyond": _row(header_count=2**31 - 1),
        "null header key": _row(header_count=1, headers=b"\x01\x01"),
        "offset delta 1 first": _row(offset_delta=1),
        "record attributes set": _row(attributes=1),
    }
    for codec in (Codec.NONE, Codec.LZ4):
        name = codec.name.lower()
        for what, body in wrong.items():
            yield Produced(f"{name}: {what}", _with_section(body, codec, record_count=len(SMALL)))
        for what, body in one.items():
            yield Produced(f"{name}: {what}", _with_section(body, codec, record_count=1))
        skipping = encode_records(_moved(0)[::2], base_offset=0, base_timestamp=NOW_MS)
        yield Produced(f"{name}: gaps", _with_section(skipping, codec, record_count=3))
        repeated = encode_records([SMALL[0]] * 2, base_offset=0, base_timestamp=NOW_MS)
        yield Produced(f"{name}: equal offsets", _with_section(repeated, codec, record_count=2))
        yield Produced(
            f"{name}: null key, compacted topic",
            write_batch(SMALL, attributes=codec),
            config={"cleanup.policy": "compact"},
        )


def _wrong_compression() -> Iterator[Produced]:
    section = encode_records(SMALL, base_offset=0, base_timestamp=NOW_MS)
    for number in (5, 6, 7):
        yield Produced(f"codec {number}", _changed(attributes=number))
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
        name = codec.name.lower()
        compressed = bytes(compress(codec, section))
        broken = {
            "plain records": bytes(section),
            "no bytes": b"",
            "cut off": compressed[:-9],
            "flipped byte": _with_byte(compressed, len(compressed) // 2, 255),
        }
        for what, body in broken.items():
            header = dataclasses.replace(_header(), attributes=codec)
            yield Produced(f"{name}: {what}", assemble_batch(header, body))
    trailing = gzip.compress(section) + b"trailing"
    header = dataclasses.replace(_header(), attributes=Codec.GZIP)
    yield Produced("gzip: trailing bytes", assemble_batch(header, trailing))


def _timestamps() -> Iterator[Produced]:
    hour_ms = 3_600_000
    bounds = {
        "message.timestamp.before.max.ms": str(hour_ms),
        "message.timestamp.after.max.ms": str(hour_ms),
    }
    for codec in (Codec.NONE, Codec.ZSTD):
        for offset_ms in (-hour_ms - 1, -hour_ms, hour_ms, hour_ms + 1):
            record = Record(0, NOW_MS + offset_ms, b"k", b"v")
            data = write_batch([record], attributes=codec)
            yield Produced(f"{codec.name.lower()}: {offset_ms} ms from now", data, config=bounds)
        data = write_batch([Record(0, -1, b"k", b"v")], attributes=codec)
        yield Produced(f"{codec.name.lower()}: no timestamp", data)
        yield Produced(f"{codec.name.lower()}: no timestamp, bounded", data, config=bounds)
        data = write_batch([Record(0, -5, b"k", b"v")], attributes=codec)
        yield Produced(f"{codec.name.lower()}: negative timestamp", data)


def _sizes() -> Iterator[Produced]:
    batch = write_batch(SMALL)
    for size in (len(batch) - 1, len(batch)):
        limited = {"max.message.bytes": str(size)}
        yield Produced(f"max.message.bytes {size - len(batch)}", batch, config=limited)
        segment = {"segment.bytes": str(size)}
        yield Produced(f"segment.bytes {size - len(batch)}", batch, config=segment)
    growing = write_batch(SMALL, attributes=Codec.GZIP)
    yield Produced(
        "too large once recompressed",
        growing,
        config={"max.message.bytes": str(len(growing)), "compression.type": "uncompressed"},
    )


def _old_sets() -> Iterator[Produced]:
    bare = [Record(record.offset, *record[1:4]) for record in SMALL]
    keyed = [Record(0, NOW_MS, b"key", None), Record(1, NOW_MS + 9, b"", b"value")]
    append_time = {"message.timestamp.type": "LogAppendTime"}
    compact = {"cleanup.policy": "compact"}
    for magic, version in ((0, 1), (1, 2), (1, 1), (0, 2), (0, 3), (1, NEWEST)):
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
            name = f"magic {magic} {codec.name.lower()} in version {version}"
            data = write_message_set(bare, magic=magic, codec=codec)
            yield Produced(name, data, version=version)
            yield Produced(f"{name}, log-append time", data, version=version, config=append_time)
            yield Produced(
                f"{name}, topic in zstd", data, version=version, config={"compression.type": "zstd"}
            )
            yield Produced(
                f"{name}, compacted topic",
                data,
                version=version,
                config=compact,
            )
            yield Produced(
                f"{name}, keyed, compacted topic",
                write_message_set(keyed, magic=magic, codec=codec),
                version=version,
                config=compact,
            )
            last = len(data) - 1
            broken = _with_byte(data, last, data[last] ^ 1)
            yield Produced(f"{name}, changed value", broken, version=version)
    yield from _odd_wrappers()


def _odd_wrappers() -> Iterator[Produced]:
    inner = [Record(n, NOW_MS + n, b"k", b"v") for n in range(3)]
    for magic, version in ((0, 1), (1, 2)):
        name = f"magic {magic}"
        nested = write_message_set(inner, magic=magic, codec=Codec.GZIP)
        yield Produced(f"{name}: nested twice", _wrapper(magic, nested), version=version)
        other = write_message_set(inner, magic=1 - magic, codec=Codec.NONE)
        yield Produced(f"{name}: other magic inside", _wrapper(magic, other), version=version)
        yield Produced(f"{name}: empty inside", _wrapper(magic, b""), version=version)
        plain = write_message_set(inner, magic=magic, codec=Codec.NONE)
        yield Produced(f"{name}: cut off inside", _wrapper(magic, plain[:-2]), version=version)
        yield Produced(
            f"{name}: wrong offsets inside",
            _wrapper(magic, write_message_set(inner[::-1], magic=magic, codec=Codec.NONE)),
            version=version,
        )
        yield Produced(
            f"{name}: wrong checksum inside",
            _wrapper(magic, _with_byte(plain, 13, plain[13] ^ 1)),
            version=version,
        )
        null = Message(2, magic, Codec.GZIP, NOW_MS, None, None)
        yield Produced(f"{name}: null wrapper", write_message(null), version=version)
        zstd = Message(2, magic, Codec.ZSTD, NOW_MS, None, bytes(compress(Codec.ZSTD, plain)))
        yield Produced(f"{name}: zstd wrapper", write_message(zstd), version=version)
        two = nested + write_message_set(inner, magic=magic, codec=Codec.GZIP)
        yield Produced(f"{name}: two wrappers", two, version=version)
        yield Produced(f"{name}: and half a message", nested + nested[:20], version=version)


def _wrapper(magic: int, inner: Data) -> bytes:
    return write_message(Message(2, magic, Codec.GZIP, NOW_MS + 2, None, gzip.compress(inner)))


def _header() -> BatchHeader:
    return BatchHeader.read(write_batch(SMALL))


def _changed(**fields: int) -> bytearray:
    """A right batch with some header fields changed, under a right checksum."""
    batch = write_batch(SMALL, producer=NO_PRODUCER)
    return assemble_batch(dataclasses.replace(_header(), **fields), batch[RECORDS_POSITION:])


def _with_section(section: Data, codec: Codec, *, record_count: int) -> bytearray:
    header = dataclasses.replace(
        _header(), attributes=codec, record_count=record_count, last_offset_delta=record_count - 1
    )
    return assemble_batch(header, compress(codec, section))


def _row(
    *,
    attributes: int = 0,
    offset_delta: int = 0,
    key_size: int = 1,
    value_size: int = 1,
    header_count: int = 0,
    headers: bytes = b"",
) -> bytes:
    """One record, "k" to "v", whose numbers may be lies."""
    row = bytearray([attributes, 0])
    append_varint(row, offset_delta)
    append_varint(row, key_size)
    row += b"k"
    append_varint(row, value_size)
    row += b"v"
    append_varint(row, header_count)
    row += headers
    section = bytearray()
    append_varint(section, len(row))
    return bytes(section + row)


def _moved(distance: int) -> list[Record]:
    return [record._replace(offset=record.offset + distance) for record in SMALL]


def _with_byte(data: Data, position: int, value: int) -> bytes:
    return bytes(data[:position]) + bytes([value]) + bytes(data[position + 1 :])


def _with_length(data: Data, length: int) -> bytes:
    return bytes(data[:8]) + struct.pack(">i", length) + bytes(data[12:])
