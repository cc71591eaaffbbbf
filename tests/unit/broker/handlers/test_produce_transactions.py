"""Produce in transactions: nothing is appended that nobody would ever end (KIP-890)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.log.log import Log
from unit.broker.transaction_client import SETTINGS, T0, Client, begin
from unit.broker.world import broker_world

OFF = {"transaction.partition.verification.enable": "false"}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        yield client


def log_of(client: Client) -> Log:
    return client.world.partition("t").log


async def test_records_of_a_transaction_are_appended(client: Client) -> None:
    await client.add(T0)
    assert await client.produce() is ErrorCode.NONE
    assert await client.produce() is ErrorCode.NONE
    log = log_of(client)
    assert (log.high_watermark, log.last_stable_offset) == (2, 0)


@pytest.mark.parametrize(
    ("version", "expected"),
    [(10, ErrorCode.INVALID_TXN_STATE), (11, ErrorCode.TRANSACTION_ABORTABLE)],
)
async def test_a_partition_that_was_not_added_is_refused(
    client: Client, version: int, expected: ErrorCode
) -> None:
    assert await client.produce(version=version) is expected
    assert log_of(client).log_end_offset == 0


async def test_a_batch_that_comes_after_the_end_is_refused(client: Client) -> None:
    await client.add(T0)
    await client.produce()
    await client.end()
    await client.until_complete()
    assert await client.produce() is ErrorCode.TRANSACTION_ABORTABLE
    assert log_of(client).last_stable_offset == 2, "the partition does not hang"


async def test_a_zombie_is_refused(client: Client) -> None:
    await client.add(T0)
    successor = Client(client.world)
    await successor.init()
    await client.until_complete()
    assert await client.produce() is ErrorCode.INVALID_PRODUCER_EPOCH
    await successor.init()
    await successor.add(T0)
    await successor.produce()
    assert await client.produce() is ErrorCode.INVALID_PRODUCER_EPOCH


async def test_without_a_coordinator_producers_try_again(client: Client) -> None:
    await client.add(T0)
    client.world.broker.transactions.shards.resign(0)
    assert await client.produce() is ErrorCode.NOT_ENOUGH_REPLICAS
    assert log_of(client).log_end_offset == 0


async def test_a_transaction_without_a_name_is_refused(client: Client) -> None:
    await client.add(T0)
    assert await client.produce(transactional_id=None) is ErrorCode.INVALID_TXN_STATE


async def test_several_connections_may_begin_in_several_partitions(client: Client) -> None:
    other = Client(client.world, identity=client.identity)
    await client.add(T0, T0._replace(partition=1))
    one, another = await asyncio.gather(client.produce(), other.produce(number=1))
    assert (one, another) == (ErrorCode.NONE, ErrorCode.NONE)


async def test_verification_can_be_turned_off() -> None:
    async with broker_world({**SETTINGS, **OFF}) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        assert await client.produce() is ErrorCode.NONE
        assert await client.produce(transactional_id=None) is ErrorCode.NONE
