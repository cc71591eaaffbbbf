"""AddOffsetsToTxn: a group's partition of the offsets topic takes part."""

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from unit.broker.transaction_client import SETTINGS, Client, begin
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(5))
async def test_the_partition_of_the_group_is_added(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        assert await client.add_group(version=version) is ErrorCode.NONE
        found = world.broker.transactions.describe("tx").partitions
        assert list(found) == [TopicPartition("__consumer_offsets", 0)]


@pytest.mark.parametrize(
    ("version", "expected"),
    [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED)],
)
async def test_a_fenced_producer_hears_it(version: int, expected: ErrorCode) -> None:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        await Client(world).init()
        assert await client.add_group(version=version) is expected
