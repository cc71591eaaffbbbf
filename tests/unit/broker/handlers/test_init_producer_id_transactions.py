"""InitProducerId with a transactional id."""

from collections.abc import AsyncIterator

import pytest

from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode
from unit.broker.transaction_client import SETTINGS, T0, Client, begin
from unit.broker.world import broker_world


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        yield Client(world)


@pytest.mark.parametrize("version", range(6))
async def test_every_version_bumps_the_epoch(client: Client, version: int) -> None:
    assert await client.init(version=version) is ErrorCode.NONE
    first = client.identity
    assert await client.init(version=version) is ErrorCode.NONE
    assert client.identity == first._replace(epoch=1)


async def test_a_producer_goes_on_with_the_next_epoch(client: Client) -> None:
    await client.init()
    first = client.identity
    assert await client.init(expected=first) is ErrorCode.NONE
    assert client.identity == first._replace(epoch=1)
    assert await client.init(expected=first) is ErrorCode.NONE
    assert client.identity == first._replace(epoch=1)


@pytest.mark.parametrize(
    ("version", "expected"),
    [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED)],
)
async def test_a_fenced_producer_cannot_go_on(
    client: Client, version: int, expected: ErrorCode
) -> None:
    await client.init()
    first = client.identity
    await Client(client.world).init()
    assert await client.init(version=version, expected=first) is expected
    foreign = ProducerIdentity(first.producer_id + 7, 0)
    assert await client.init(version=version, expected=foreign) is expected


async def test_an_open_transaction_is_aborted_first(client: Client) -> None:
    await client.init()
    await client.add(T0)
    await client.produce()
    assert await client.init() is ErrorCode.CONCURRENT_TRANSACTIONS
    await client.until_complete()
    assert client.world.partition("t").log.last_stable_offset == 2
    assert await client.init() is ErrorCode.NONE
    assert client.identity.epoch == 2
