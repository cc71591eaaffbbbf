"""Every message survives the way to bytes and back, in every version."""

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from moldau.protocol.codec import (
    decode,
    decoder_of,
    encode,
    encode_parts,
    encoder_of,
    pausing_decoder_of,
    pausing_encoder_of,
)
from moldau.protocol.declaration import facts_of, message
from moldau.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from moldau.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.protocol.primitives import Int32
from moldau.runtime.file_range import FileRange
from moldau.testing.disk import MemoryDisk
from unit.protocol.catalogue import all_messages, fitted, instances


@pytest.mark.parametrize("cls", all_messages(), ids=lambda cls: cls.__name__)
@settings(
    max_examples=12,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_every_version_reads_back_what_it_wrote(cls: type, data: st.DataObject) -> None:
    drawn = data.draw(instances(cls))
    for version in facts_of(cls).versions:
        expected = fitted(drawn, version)
        encoded = encode(expected, version)
        assert decode(cls, version, encoded) == (expected, len(encoded))
        padded = memoryview(bytearray(b"\xff" + encoded + b"\xff"))
        assert decode(cls, version, padded, 1) == (expected, len(encoded) + 1)


def test_decoded_records_are_a_view_on_the_received_bytes() -> None:
    received = bytearray(encode(produce(b"batch"), 9))
    request, _ = decode(ProduceRequest, 9, received)
    records = request.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    records[:] = b"BATCH"
    assert b"BATCH" in received


def test_encoded_records_stay_the_object_that_they_were() -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    file = disk.open_append("/d/f")
    file.append(bytes(300))
    file_range = FileRange(disk.open_read("/d/f"), 0, 300)
    partition = PartitionData(partition_index=0, error_code=0, high_watermark=1, records=file_range)
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[partition])], session_id=0
    )
    before, between, after = encode_parts(response, 12)
    assert between is file_range
    with_bytes = PartitionData(
        partition_index=0, error_code=0, high_watermark=1, records=b"x" * 300
    )
    response.responses[0].partitions = [with_bytes]
    assert isinstance(before, bytes | bytearray)
    assert isinstance(after, bytes | bytearray)
    assert before + b"x" * 300 + after == encode(response, 12)


def test_bytes_fields_are_copies_that_do_not_keep_the_frame() -> None:
    from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest

    encoded = encode(SaslAuthenticateRequest(auth_bytes=b"token"), 2)
    request, _ = decode(SaslAuthenticateRequest, 2, memoryview(encoded))
    assert type(request.auth_bytes) is bytes


def test_golden_bytes_of_heartbeat() -> None:
    request = HeartbeatRequest(group_id="g", generation_id=7, member_id="me")
    assert encode(request, 0) == b"\0\1g\0\0\0\7\0\2me"
    assert encode(request, 3) == b"\0\1g\0\0\0\7\0\2me\xff\xff"
    assert encode(request, 4) == b"\2g\0\0\0\7\3me\0\0"


def test_golden_bytes_of_produce() -> None:
    assert encode(produce(b"batch"), 3) == bytes.fromhex(
        "ffff ffff 000003e8 00000001 0001 74 00000001 00000000 00000005 6261746368"
    )
    assert encode(produce(b"batch"), 9) == bytes.fromhex(
        "00 ffff 000003e8 02 02 74 02 00000000 06 6261746368 00 00 00"
    )


def test_a_codec_is_compiled_once() -> None:
    assert encoder_of(HeartbeatRequest, 1) is encoder_of(HeartbeatRequest, 1)
    assert decoder_of(HeartbeatRequest, 1) is decoder_of(HeartbeatRequest, 1)


def produce(records: bytes) -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=records)
    return ProduceRequest(
        acks=-1,
        timeout_ms=1000,
        topic_data=[TopicProduceData(name="t", partition_data=[partition])],
    )


def test_fields_may_be_named_like_variables_of_the_generated_code() -> None:
    @message(versions=range(2), flexible_from=1)
    class Unlucky:
        buffer: list[str]
        position: list[str]
        end: list[str]
        limit: str
        size: str | None
        out: str
        parts: list[Int32]
        message: list[str]
        length: list[str]
        new: list[str]

    lists = {name: ["a", "b"] for name in ("buffer", "position", "end", "message", "length", "new")}
    unlucky = Unlucky(limit="c", size="d", out="e", parts=[1], **lists)
    for version in range(2):
        assert decode(Unlucky, version, encode(unlucky, version))[0] == unlucky


@pytest.mark.parametrize("cls", all_messages(), ids=lambda cls: cls.__name__)
@settings(
    max_examples=3,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_codecs_that_pause_read_and_write_the_same(cls: type, data: st.DataObject) -> None:
    version = facts_of(cls).versions[-1]
    expected = fitted(data.draw(instances(cls)), version)
    _, parts = finished(pausing_encoder_of(cls, version)(expected))
    encoded = b"".join(parts)
    assert encoded == encode(expected, version)
    _, read = finished(pausing_decoder_of(cls, version)(encoded, 0))
    assert read == (expected, len(encoded))


def test_codecs_pause_every_few_hundred_elements_of_lists_within_lists() -> None:
    partitions = [PartitionProduceData(index=number, records=b"") for number in range(300)]
    topics = [TopicProduceData(name="t", partition_data=partitions) for _ in range(3)]
    request = ProduceRequest(acks=1, timeout_ms=0, topic_data=topics)
    bytes_written, parts = finished(pausing_encoder_of(ProduceRequest, 9)(request))
    assert len(bytes_written) == 903 // 256
    elements_read, _ = finished(pausing_decoder_of(ProduceRequest, 9)(b"".join(parts), 0))
    assert elements_read == [256, 512, 768]


def test_numbers_of_an_array_count_when_they_are_read() -> None:
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=list(range(1000)))] * 2
    request = OffsetFetchRequest(group_id="g", topics=topics)
    elements_read, _ = finished(pausing_decoder_of(OffsetFetchRequest, 5)(encode(request, 5), 0))
    assert elements_read == [1001, 2002]


def test_a_codec_that_pauses_is_compiled_once() -> None:
    assert pausing_encoder_of(HeartbeatRequest, 1) is pausing_encoder_of(HeartbeatRequest, 1)
    assert pausing_decoder_of(HeartbeatRequest, 1) is pausing_decoder_of(HeartbeatRequest, 1)


def finished(work: Generator[int, None, Any]) -> tuple[list[int], Any]:
    """What a codec yielded on its way, and what it came to."""
    yielded = []
    while True:
        try:
            yielded.append(next(work))
        except StopIteration as stop:
            return yielded, stop.value
