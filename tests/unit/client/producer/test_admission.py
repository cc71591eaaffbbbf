"""Records are let in when their topic is known and there is room, from any thread."""

import threading
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from moldau.client.producer.accumulator import OutgoingRecord
from moldau.client.producer.admission import RecordAdmission
from moldau.client.producer.producer import Producer
from moldau.errors import MessageTooLarge, RequestTimedOut, UnknownTopicOrPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Delay

RECORD = OutgoingRecord(5, None, b"v" * 100)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"num.partitions": "3"}


@pytest.fixture
async def admission(kafka: EmbeddedBroker) -> AsyncIterator[RecordAdmission]:
    """Of a producer with room for two records of this size, that waits 0.1 s for more."""
    async with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        buffer_memory=250,
        max_block_ms=100,
        batch_size=100,
    ) as producer:
        yield producer.admission


async def test_a_topic_that_is_not_known_must_be_waited_for(admission: RecordAdmission) -> None:
    assert admission.admit("t", RECORD) is None
    receipt = await admission.wait("t", RECORD)
    assert admission.admit("t", RECORD) is not None
    assert (await receipt).topic == "t"


async def test_batches_without_keys_go_to_one_partition_after_another(
    admission: RecordAdmission,
) -> None:
    places = [await (await admission.wait("t", RECORD)) for _ in range(20)]
    partitions = [place.partition for place in places]
    assert all(left != right for left, right in pairwise(partitions))


async def test_a_full_buffer_must_be_waited_for(
    kafka: EmbeddedBroker, admission: RecordAdmission
) -> None:
    await admission.wait_for_topic("t")
    release = kafka.control("Produce", lambda _: Delay(0.5))
    assert admission.admit("t", RECORD) is not None
    assert admission.admit("t", RECORD) is not None
    assert admission.admit("t", RECORD) is None
    with pytest.raises(RequestTimedOut, match=r"buffer\.memory was full for 0.1 s"):
        await admission.wait("t", RECORD)
    release()


async def test_what_can_never_be_let_in_is_refused(admission: RecordAdmission) -> None:
    with pytest.raises(MessageTooLarge, match=r"exceeds max\.request\.size"):
        admission.admit("t", OutgoingRecord(5, None, b"v" * 250))
    await admission.wait_for_topic("t")
    with pytest.raises(UnknownTopicOrPartition, match="has no partition 3; it has 3"):
        admission.admit("t", RECORD, 3)


async def test_other_threads_may_let_records_in(
    kafka: EmbeddedBroker, admission: RecordAdmission
) -> None:
    await admission.wait_for_topic("t")
    thread = threading.Thread(target=admission.admit, args=("t", RECORD, 1))
    thread.start()
    thread.join()
    await (await admission.wait("t", RECORD, 1))
    assert len(kafka.records("t")[1]) == 2
