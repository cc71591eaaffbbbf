"""Templates say what the codec says, in every version."""

import pytest

from moldau.client.connection.versions import SPOKEN
from moldau.client.producer.produce_template import PRODUCE, ProduceTemplate
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header, encode_response_header
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

VERSIONS = SPOKEN[PRODUCE]


def request(records: bytes) -> ProduceRequest:
    data = [PartitionProduceData(index=7, records=records)]
    topics = [TopicProduceData(name="orders", partition_data=data)]
    return ProduceRequest(transactional_id=None, acks=-1, timeout_ms=30_000, topic_data=topics)


def answer(version: int, index: int = 7, **fields: int) -> memoryview:
    partition = PartitionProduceResponse(index=index, error_code=0, base_offset=5)
    for name, value in fields.items():
        setattr(partition, name, value)
    topics = [TopicProduceResponse(name="orders", partition_responses=[partition])]
    body = encode(ProduceResponse(responses=topics), version)
    return memoryview(encode_response_header(3, PRODUCE, version) + body)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [1, 126, 127, 20_000])
def test_requests_are_those_of_the_codec(version: int, size: int) -> None:
    records = bytes(size)
    header = encode_request_header(RequestHeader(PRODUCE, version, 99, "me"))
    expected = header + encode(request(records), version)
    frame = ProduceTemplate(request(b""), version, "me").frame(99, memoryview(records))
    assert frame == len(expected).to_bytes(4, "big") + expected


@pytest.mark.parametrize("version", VERSIONS)
def test_plain_answers_are_understood(version: int) -> None:
    template = ProduceTemplate(request(b""), version, "me")
    assert template.stored(answer(version)) == (5, -1)
    assert template.stored(answer(version, base_offset=2**40, log_append_time_ms=17)) == (2**40, 17)


@pytest.mark.parametrize("version", VERSIONS)
def test_answers_that_are_not_plain_are_left_to_the_codec(version: int) -> None:
    template = ProduceTemplate(request(b""), version, "me")
    assert template.stored(answer(version, error_code=6)) is None
    assert template.stored(answer(version, index=8)) is None
    plain = answer(version)
    assert all(template.stored(plain[:end]) is None for end in range(len(plain) // 2))
