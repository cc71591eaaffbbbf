"""TxnOffsetCommit: offsets that count with their transaction."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from unit.broker.transaction_client import SETTINGS, T0, Client, begin
from unit.broker.world import broker_world


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        yield client


async def committed(client: Client, *, require_stable: bool = False) -> tuple[ErrorCode, int]:
    groups = client.world.broker.groups
    found = (await groups.fetch("g", [T0], require_stable=require_stable))[T0]
    return found.error, found.offset


@pytest.mark.parametrize("version", range(5))
async def test_offsets_count_when_the_transaction_commits(client: Client, version: int) -> None:
    await client.add_group()
    assert await client.commit_offset(5, version=version) is ErrorCode.NONE
    assert await committed(client) == (ErrorCode.NONE, -1)
    unstable = (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
    assert await committed(client, require_stable=True) == unstable
    await client.end()
    await client.until_complete()
    assert await committed(client, require_stable=True) == (ErrorCode.NONE, 5)


async def test_offsets_of_an_aborted_transaction_never_count(client: Client) -> None:
    await client.add_group()
    await client.commit_offset(5)
    await client.end(is_commit=False)
    await client.until_complete()
    assert await committed(client, require_stable=True) == (ErrorCode.NONE, -1)


@pytest.mark.parametrize(
    ("version", "expected"),
    [(3, ErrorCode.INVALID_TXN_STATE), (4, ErrorCode.TRANSACTION_ABORTABLE)],
)
async def test_a_group_that_does_not_take_part_is_refused(
    client: Client, version: int, expected: ErrorCode
) -> None:
    assert await client.commit_offset(5, version=version) is expected
    assert await committed(client, require_stable=True) == (ErrorCode.NONE, -1)


async def test_a_zombie_is_refused(client: Client) -> None:
    await client.add_group()
    await Client(client.world).init()
    await client.until_complete()
    await Client(client.world).init()
    assert await client.commit_offset(5) is ErrorCode.INVALID_PRODUCER_EPOCH


async def test_a_member_that_is_not_in_the_group_is_refused(client: Client) -> None:
    await client.add_group()
    answer = await client.commit_offset(5, member_id="gone", generation_id=3)
    assert answer is ErrorCode.UNKNOWN_MEMBER_ID


async def test_unknown_partitions_are_refused(client: Client) -> None:
    await client.add_group()
    answer = await client.commit_offset(5, partition=TopicPartition("u", 0))
    assert answer is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("version", "expected"),
    [(1, ErrorCode.COORDINATOR_NOT_AVAILABLE), (2, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)],
)
async def test_without_the_transactions_coordinator_producers_try_again(
    client: Client, version: int, expected: ErrorCode
) -> None:
    client.world.broker.transactions.shards.resign(0)
    assert await client.commit_offset(5, version=version) is expected
