"""A socket used without an event loop, and brokers that answer oddly."""

import asyncio
from collections.abc import Callable

import pytest

from moldau.client.blocking.own_connection import OwnConnection
from moldau.client.connection.opening import open_broker
from moldau.client.producer.produce_template import ProduceTemplate
from moldau.client.settings import ProducerSettings
from moldau.errors import NetworkException, RequestTimedOut
from moldau.protocol.codec import encode
from moldau.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from unit.client.scripted import Answer, scripted_broker

VERSION = 3
DATA = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=b"")])]
TEMPLATE = ProduceTemplate(
    ProduceRequest(transactional_id=None, acks=-1, timeout_ms=100, topic_data=DATA), VERSION, "me"
)
STORED = ProduceResponse(
    responses=[
        TopicProduceResponse(
            name="t",
            partition_responses=[PartitionProduceResponse(index=0, error_code=0, base_offset=41)],
        )
    ]
)
SPOKEN = ApiVersionsResponse(
    error_code=0, api_keys=[ApiVersion(api_key=0, min_version=0, max_version=VERSION)]
)


def after_agreement(answer: Answer) -> Answer:
    """A broker that says first what it speaks."""
    calls: list[bytes] = []

    def decide(frame: bytes) -> bytes | None:
        calls.append(frame)
        return answer(frame) if len(calls) > 1 else frame[4:8] + encode(SPOKEN, 4)

    return decide


async def produce(answer: Answer, timeout_s: float = 10.0) -> memoryview:
    async with scripted_broker(after_agreement(answer)) as address:
        settings = ProducerSettings(bootstrap_servers=str(address))
        connection = OwnConnection("the broker", await open_broker(address, settings))
        assert connection.versions.newest(0) == VERSION
        try:
            return await asyncio.to_thread(
                lambda: connection.produce(TEMPLATE, memoryview(b"records"), timeout_s=timeout_s)
            )
        finally:
            connection.close()


async def test_the_answer_to_a_request_is_returned() -> None:
    frame = await produce(lambda frame: frame[4:8] + encode(STORED, VERSION))
    assert TEMPLATE.stored(frame) == (41, -1)


async def test_an_answer_that_comes_in_pieces_is_put_together() -> None:
    padding = bytes(100_000)
    frame = await produce(lambda frame: frame[4:8] + encode(STORED, VERSION) + padding)
    assert len(frame) > len(padding)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: None, "the broker: the connection was closed"),
        (lambda _: b"\x00\x00\x00\x63", "answer 99 instead of 1"),
        (lambda frame: frame[4:8] + b"\x00\x00", None),
    ],
)
async def test_whoever_waits_is_told_what_is_wrong(
    answer: Callable[[bytes], bytes | None], reason: str | None
) -> None:
    if reason is None:  # for the template to judge
        assert TEMPLATE.stored(await produce(answer)) is None
        return
    with pytest.raises(NetworkException, match=reason):
        await produce(answer)


async def test_a_broker_that_says_nothing_is_waited_for_so_long() -> None:
    with pytest.raises(RequestTimedOut, match=r"Produce to the broker had no answer in 0\.05 s"):
        await produce(lambda _: b"", timeout_s=0.05)
