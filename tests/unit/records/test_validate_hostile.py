"""Produced bytes of any kind: each is a valid batch or an error that has a code."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.errors import KafkaError
from moldau.records import batch
from moldau.records.batch import BatchHeader, Producer, assemble_batch, read_records, write_batch
from moldau.records.compression import Codec, compress
from moldau.records.crc32c import crc32c
from moldau.records.legacy import write_message_set
from moldau.records.record import Record
from moldau.records.rules import ProduceRules
from moldau.records.validate import validate_produce

NOW = 1_700_000_000_000
LIMIT = 1 << 20
RECORDS = [
    Record(0, NOW - 10, b"a", b"first" * 20),
    Record(1, NOW, b"b", b"second" * 20, ((b"h", None),)),
    Record(2, NOW - 5, b"c", None),
]
SOUND = [
    bytes(write_batch(RECORDS, attributes=codec, producer=Producer(1, 0, 0))) for codec in Codec
] + [
    write_message_set(RECORDS, magic=magic, codec=codec)
    for magic in (0, 1)
    for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
]
EVERY_RULE = ProduceRules(
    is_compacted=True, timestamp_before_max_ms=10**9, timestamp_after_max_ms=10**9
)


def survives(data: bytes | bytearray, version: int) -> None:
    for rules in (ProduceRules(), EVERY_RULE):
        try:
            valid = validate_produce(data, rules, request_version=version, now_ms=NOW)
        except KafkaError:
            continue
        if valid is not None:
            assert (
                len(list(read_records(valid.data, limit_bytes=LIMIT))) == valid.header.record_count
            )


@pytest.mark.parametrize("data", SOUND)
def test_every_prefix_is_valid_or_a_wire_error(data: bytes) -> None:
    for size in range(len(data)):
        for version in (2, 9):
            survives(data[:size], version)


@settings(max_examples=300)
@given(
    st.sampled_from(SOUND),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=4),
    st.sampled_from([2, 9]),
    st.booleans(),
)
def test_any_mutation_is_valid_or_a_wire_error(
    data: bytes, changes: list[tuple[int, int]], version: int, has_right_checksum: bool
) -> None:
    mutated = bytearray(data)
    for position, value in changes:
        mutated[position % len(data)] = value
    if has_right_checksum and mutated[batch.MAGIC_POSITION] == batch.MAGIC:
        checksum = crc32c(mutated[batch.ATTRIBUTES_POSITION :])
        mutated[17:21] = checksum.to_bytes(4, "big")
    survives(mutated, version)


@settings(max_examples=200)
@given(st.integers(0, 400), st.binary(min_size=1, max_size=3), st.sampled_from(Codec))
def test_any_mutation_of_the_records_is_valid_or_a_wire_error(
    position: int, change: bytes, codec: Codec
) -> None:
    plain = write_batch(RECORDS)
    section = plain[batch.RECORDS_POSITION :]
    position %= len(section)
    section[position : position + len(change)] = change
    header = BatchHeader.read(plain)
    header.attributes = codec
    survives(assemble_batch(header, compress(codec, section)), version=9)
