"""Records that are refused, whatever they claim to be."""

import struct
import zlib

import pytest

from conformance.apache.produced import produced
from conformance.apache.samples import NOW_MS
from conformance.hostile.requests import TOPIC, assert_closed, code_of
from moldau.errors import ErrorCode
from moldau.records.batch import BatchHeader, assemble_batch, write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, produce


@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_other_acks_than_three_are_refused(client: WireClient, acks: int) -> None:
    request = produce(TOPIC, batch(b"a"), acks=acks)
    assert code_of(client, request) == ErrorCode.INVALID_REQUIRED_ACKS


@pytest.mark.parametrize("partition", [-1, 1, 2**31 - 1, -(2**31)])
def test_a_partition_that_is_not_there_is_unknown(client: WireClient, partition: int) -> None:
    request = produce(TOPIC, batch(b"a"), partition=partition)
    assert code_of(client, request) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("topic", ["nowhere", "", "..", "a/b", "x" * 300, "\0"])
def test_a_topic_that_is_not_there_is_unknown(client: WireClient, topic: str) -> None:
    assert code_of(client, produce(topic, batch(b"a"))) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_negative_and_huge_timeouts_do_no_harm(client: WireClient) -> None:
    for timeout_ms in (-1, -(2**31), 2**31 - 1):
        request = produce(TOPIC, batch(b"a"))
        request.timeout_ms = timeout_ms
        assert code_of(client, request) == ErrorCode.NONE


@pytest.mark.parametrize("version", [3, 7, 11])
def test_records_that_are_none_are_answered(client: WireClient, version: int) -> None:
    for data in (None, b""):
        assert code_of(client, produce(TOPIC, data), version) == ErrorCode.INVALID_RECORD


def test_every_wrong_record_set_gets_a_code_for_its_partition(client: WireClient) -> None:
    for case in produced():
        if case.config:
            continue
        code = code_of(client, produce(TOPIC, bytes(case.data)), case.version)
        assert code != ErrorCode.UNKNOWN_SERVER_ERROR, case.name


def test_a_wrong_batch_with_acks_0_closes_the_connection(client: WireClient) -> None:
    client.send(produce(TOPIC, b"not a batch", acks=0))
    assert_closed(client)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_batch_that_unpacks_to_a_gigabyte_is_refused(client: WireClient, codec: Codec) -> None:
    plain = write_batch([Record(0, NOW_MS, None, b"value")])
    header = BatchHeader.read(plain)
    header.attributes = codec
    section = bomb(codec)
    assert len(section) < 2 * 2**20
    data = bytes(assemble_batch(header, section))
    for _ in range(4):
        assert code_of(client, produce(TOPIC, data)) == ErrorCode.INVALID_RECORD


def bomb(codec: Codec) -> bytes:
    """A few bytes that claim, or are, a gigabyte."""
    if codec == Codec.GZIP:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        chunk = bytes(2**20)
        return b"".join(packer.compress(chunk) for _ in range(1024)) + packer.flush()
    if codec == Codec.SNAPPY:
        # Xerial's framing, and one chunk of 2**31 - 1 bytes (CVE-2023-34455).
        return b"\x82SNAPPY\x00" + struct.pack(">iii", 1, 1, 2**31 - 1) + bytes(100)
    if codec == Codec.LZ4:
        frame = bytearray(b"\x04\x22\x4d\x18\x60\x70\x73")
        block = b"\x1f\x00\x01\x00" + b"\xff" * 16_400 + b"\x00" + b"\x50" + bytes(5)
        for _ in range(60):
            frame += struct.pack("<I", len(block)) + block
        return bytes(frame + bytes(4))
    # A zstd frame: one block of a repeated byte, 128 KiB each, 8192 times.
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x88")
    for number in range(8192):
        frame += struct.pack("<I", (number == 8191) | 1 << 1 | 131072 << 3)[:3] + b"\0"
    return bytes(frame)
