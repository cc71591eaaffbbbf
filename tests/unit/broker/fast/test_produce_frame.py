"""The fast codec of Produce reads and writes as the message codec does, or nothing."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.broker.fast import produce_frame as source
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import RequestHeader, decode_request_header, encode_request_header
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.runtime import native
from unit.broker.sample_requests import produce
from unit.broker.ways import Way
from unit.broker.world import CLIENT, batch_of, broker_world, bytes_of, frame_of

compiled = native.kernel("moldau.broker.fast._produce_frame", "moldau.broker.fast.produce_frame")
FORMS = pytest.mark.parametrize("module", [source, compiled], ids=["source", "compiled"])
VERSIONS = range(source.VERSION_MIN, source.VERSION_MAX + 1)
PRODUCE = 0

names = st.text(min_size=1, max_size=249, alphabet=st.characters(codec="ascii"))
requests = st.builds(
    ProduceRequest,
    transactional_id=st.none() | st.text(max_size=130),
    acks=st.sampled_from([1, -1, 0, 7]),
    timeout_ms=st.integers(-(2**31), 2**31 - 1),
    topic_data=st.lists(
        st.builds(
            TopicProduceData,
            name=names,
            partition_data=st.lists(
                st.builds(
                    PartitionProduceData,
                    index=st.integers(-(2**31), 2**31 - 1),
                    records=st.none() | st.binary(max_size=300),
                ),
                max_size=4,
            ),
        ),
        max_size=4,
    ),
)


def framed(request: object, version: int, client_id: str | None = "test") -> bytearray:
    header = RequestHeader(PRODUCE, version, -77, client_id)
    return bytearray(encode_request_header(header) + encode(request, version))


def is_common(request: Any, client_id: str | None) -> bool:
    """What the fast codec must read; anything else it may leave alone."""
    texts = (client_id or "", request.transactional_id or "")
    parts = [topic.partition_data for topic in request.topic_data]
    records = [one.records for topic in parts for one in topic]
    return request.acks != 0 and all(map(str.isascii, texts)) and all(parts) and None not in records


def message(frame: Any) -> ProduceRequest:
    """What was read, as the message codec would have it."""
    topics: list[TopicProduceData] = []
    for name, index, records in frame.partitions:
        if name is not None:
            topics.append(TopicProduceData(name=name, partition_data=[]))
        data = PartitionProduceData(index=index, records=records)
        topics[-1].partition_data.append(data)
    return ProduceRequest(
        transactional_id=frame.transactional_id,
        acks=frame.acks,
        timeout_ms=frame.timeout_ms,
        topic_data=topics,
    )


@FORMS
@given(
    request=requests,
    version=st.sampled_from(VERSIONS),
    client_id=st.none() | st.text(max_size=9),
)
def test_what_is_read_is_what_was_sent(
    module: ModuleType, request: Any, version: int, client_id: str | None
) -> None:
    frame = module.RequestFrame()
    is_read = frame.read(memoryview(framed(request, version, client_id)))
    assert is_read == is_common(request, client_id)
    if is_read:
        assert message(frame) == request
        assert (frame.version, frame.correlation_id) == (version, -77)
        assert frame.client_id == (client_id or "")


@FORMS
@settings(max_examples=300)
@given(
    request=requests,
    version=st.sampled_from(VERSIONS),
    flip=st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)),
    cut=st.integers(0, 3),
)
def test_of_a_damaged_frame_the_same_is_read_or_nothing(
    module: ModuleType, request: Any, version: int, flip: tuple[float, int], cut: int
) -> None:
    frame = framed(request, version)
    frame[2 + int(flip[0] * (len(frame) - 2))] ^= flip[1]
    frame = frame[: len(frame) - cut]
    reading = module.RequestFrame()
    if reading.read(memoryview(frame)):
        header, position = decode_request_header(frame)
        expected, end = decode(ProduceRequest, header.api_version, frame, position)
        assert (message(reading), end) == (expected, len(frame))


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
def test_no_end_of_a_frame_is_missed(module: ModuleType, version: int) -> None:
    request = produce(batch_of(b"a"))
    request.transactional_id = "id"
    frame = framed(request, version)
    for end in range(len(frame)):
        assert not module.RequestFrame().read(memoryview(frame[:end]))
    assert not module.RequestFrame().read(memoryview(frame + b"\0"))
    assert module.RequestFrame().read(memoryview(frame))


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
def test_after_any_change_of_a_byte_the_codec_reads_the_same(
    module: ModuleType, version: int
) -> None:
    request = produce(b"records")
    request.transactional_id = "id"
    whole = framed(request, version)
    read = 0
    for position in range(2, len(whole)):
        for value in {0, 1, 2, 0x7F, 0x80, 0xFF, whole[position] ^ 1}:
            changed = bytearray(whole)
            changed[position] = value
            frame = module.RequestFrame()
            if frame.read(memoryview(changed)):
                read += 1
                header, start = decode_request_header(changed)
                expected, end = decode(ProduceRequest, header.api_version, changed, start)
                assert (message(frame), end) == (expected, len(changed))
    assert read > 100


@FORMS
@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize(("count", "is_read"), [(100, True), (101, False)])
def test_many_partitions_are_left_to_the_handler_which_takes_turns(
    module: ModuleType, version: int, count: int, is_read: bool
) -> None:
    parts = [PartitionProduceData(index=number, records=b"") for number in range(count)]
    for topics in (
        [TopicProduceData(name="t", partition_data=parts)],
        [TopicProduceData(name="t", partition_data=[part]) for part in parts],
    ):
        request = ProduceRequest(acks=1, timeout_ms=0, topic_data=topics)
        assert module.RequestFrame().read(memoryview(framed(request, version))) == is_read


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("way", [Way.FAST, Way.UNCOMPILED])
async def test_what_is_written_is_what_the_message_codec_writes(way: Way, version: int) -> None:
    """With names that take a size of one byte or of two, and numbers of any size."""
    topics = {"t": 3, "u" * 200: 1, "v" * 126: 1, "w" * 127: 1}
    request = produce(None, acks=1)
    request.topic_data = [
        TopicProduceData(
            name=name,
            partition_data=[
                PartitionProduceData(index=number, records=bytes(batch_of(b"a", b"b")))
                for number in range(count)
            ],
        )
        for name, count in topics.items()
    ]
    answers = []
    for taken in (way, Way.HANDLER):
        async with broker_world(way=taken) as world:
            for name, count in topics.items():
                await world.create_topic(
                    name, count, {"message.timestamp.type": "LogAppendTime"} if count == 1 else {}
                )
                world.append(name, *[b"before"] * 300)
            answers.append(bytes_of(await world.respond(CLIENT, frame_of(request, version))))
            assert world.fast_paths.answered[PRODUCE] == (taken is way)
    assert answers[0] == answers[1]


@FORMS
@pytest.mark.parametrize("version", [2, 12])
def test_other_versions_are_not_read(module: ModuleType, version: int) -> None:
    frame = framed(produce(batch_of(b"a")), 9)
    frame[2:4] = version.to_bytes(2, "big")
    assert not module.RequestFrame().read(memoryview(frame))


@FORMS
def test_other_apis_are_not_read(module: ModuleType) -> None:
    frame = framed(produce(batch_of(b"a")), 9)
    frame[1] = 1
    assert not module.RequestFrame().read(memoryview(frame))
