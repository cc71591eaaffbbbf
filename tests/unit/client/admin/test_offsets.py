"""Offsets of logs: found at their leaders, and records deleted before them."""

import itertools

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.offsets import HIGH_WATERMARK, MAX_TIMESTAMP
from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.client.producer.producer import Producer
from moldau.errors import ErrorCode, OffsetOutOfRange, UnknownTopicOrPartition
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail

T0 = TopicPartition("t", 0)


async def write(kafka: EmbeddedBroker) -> None:
    """Three records, the second of them the youngest."""
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for timestamp_ms in (100, 300, 200):
            await (await producer.send("t", b"v", timestamp_ms=timestamp_ms))


async def test_offsets_are_found_by_time_and_at_the_ends(
    admin: Admin, kafka: EmbeddedBroker
) -> None:
    await write(kafka)
    expected = {EARLIEST: 0, LATEST: 3, MAX_TIMESTAMP: 1, 150: 1, 999: -1}
    for at, offset in expected.items():
        assert (await admin.list_offsets({T0: at}))[T0].offset == offset
    committed = await admin.list_offsets({T0: LATEST}, committed_only=True)
    assert committed[T0].offset == 3


async def test_records_are_deleted_up_to_an_offset(admin: Admin, kafka: EmbeddedBroker) -> None:
    await write(kafka)
    assert (await admin.delete_records({T0: 2}))[T0] == 2
    assert (await admin.list_offsets({T0: EARLIEST}))[T0].offset == 2
    with pytest.raises(OffsetOutOfRange):
        (await admin.delete_records({T0: 9})).check()
    assert (await admin.delete_records({T0: HIGH_WATERMARK}))[T0] == 3


async def test_each_partition_has_its_own_outcome(admin: Admin, kafka: EmbeddedBroker) -> None:
    await write(kafka)
    outcomes = await admin.list_offsets({T0: LATEST, TopicPartition("x", 0): LATEST})
    assert outcomes[T0].offset == 3
    with pytest.raises(UnknownTopicOrPartition):
        outcomes[TopicPartition("x", 0)]


async def test_a_leader_that_moved_is_found_again(admin: Admin, kafka: EmbeddedBroker) -> None:
    await write(kafka)
    faults = itertools.chain([Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)], itertools.repeat(None))
    kafka.control("ListOffsets", lambda _: next(faults))
    assert (await admin.list_offsets({T0: LATEST}))[T0].offset == 3
