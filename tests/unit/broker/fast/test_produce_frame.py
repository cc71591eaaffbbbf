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
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from moldau.runtime import native
from unit.broker.requests import produce
from unit.broker.world import batch_of

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
responses = st.lists(
    st.builds(
        TopicProduceResponse,
        name=names,
        partition_responses=st.lists(
            st.builds(
                PartitionProduceResponse,
                index=st.integers(0, 2**31 - 1),
                error_code=st.just(0),
                base_offset=st.integers(-1, 2**63 - 1),
                log_append_time_ms=st.integers(-1, 2**63 - 1),
                log_start_offset=st.integers(-1, 2**63 - 1),
            ),
            max_size=4,
        ),
    ),
    max_size=4,
)


def framed(request: object, version: int, client_id: str | None = "test") -> bytearray:
    header = RequestHeader(PRODUCE, version, -77, client_id)
    return bytearray(encode_request_header(header) + encode(request, version))


def is_common(request: Any, client_id: str | None) -> bool:
    """What the fast codec must read; anything else it may leave alone."""
    texts = (client_id or "", request.transactional_id or "")
    records = [part.records for topic in request.topic_data for part in topic.partition_data]
    return request.acks != 0 and all(map(str.isascii, texts)) and None not in records


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
    read = frame.read(memoryview(framed(request, version, client_id)))
    if is_common(request, client_id):
        assert read == request
        assert (frame.version, frame.correlation_id) == (version, -77)
        assert frame.client_id == (client_id or "")
    else:
        assert read is None


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
    read = module.RequestFrame().read(memoryview(frame))
    if read is not None:
        header, position = decode_request_header(frame)
        expected, end = decode(ProduceRequest, header.api_version, frame, position)
        assert (read, end) == (expected, len(frame))


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
def test_no_end_of_a_frame_is_missed(module: ModuleType, version: int) -> None:
    request = produce(batch_of(b"a"))
    request.transactional_id = "id"
    frame = framed(request, version)
    for end in range(len(frame)):
        assert module.RequestFrame().read(memoryview(frame[:end])) is None
    assert module.RequestFrame().read(memoryview(frame + b"\0")) is None
    assert module.RequestFrame().read(memoryview(frame)) == request


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
        read = module.RequestFrame().read(memoryview(framed(request, version)))
        assert (read is not None) == is_read


@FORMS
@given(topics=responses, version=st.sampled_from(VERSIONS))
def test_what_is_written_is_what_the_message_codec_writes(
    module: ModuleType, topics: list[TopicProduceResponse], version: int
) -> None:
    response = ProduceResponse(responses=topics)
    tags = b"\0" if version >= 9 else b""
    body = (7).to_bytes(4, "big") + tags + encode(response, version)
    assert module.encode(response, version, 7) == len(body).to_bytes(4, "big") + body


@FORMS
@pytest.mark.parametrize("version", [2, 12])
def test_other_versions_are_not_read(module: ModuleType, version: int) -> None:
    frame = framed(produce(batch_of(b"a")), 9)
    frame[2:4] = version.to_bytes(2, "big")
    assert module.RequestFrame().read(memoryview(frame)) is None
