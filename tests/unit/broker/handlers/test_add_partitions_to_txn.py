"""AddPartitionsToTxn: from clients one transaction, from brokers several."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.topics.internal import CONSUMER_OFFSETS, TRANSACTION_STATE
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from unit.broker.transaction_client import SETTINGS, T0, Client, begin
from unit.broker.world import World, broker_world

T1, UNKNOWN = TopicPartition("t", 1), TopicPartition("u", 0)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        assert await client.init() is ErrorCode.NONE
        yield client


def partitions_of(world: World) -> list[TopicPartition]:
    return list(world.broker.transactions.describe("tx").partitions)


@pytest.mark.parametrize("version", range(6))
async def test_every_version_adds_partitions(client: Client, version: int) -> None:
    assert await client.add(T0, T1, version=version) == [ErrorCode.NONE, ErrorCode.NONE]
    assert partitions_of(client.world) == [T0, T1]


@pytest.mark.parametrize("version", [3, 4])
async def test_with_an_unknown_partition_none_is_added(client: Client, version: int) -> None:
    assert await client.add(T0, UNKNOWN, version=version) == [
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert partitions_of(client.world) == []


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize("name", [TRANSACTION_STATE, CONSUMER_OFFSETS])
async def test_clients_cannot_write_to_internal_topics(
    client: Client, name: str, version: int
) -> None:
    assert await client.add(T0, TopicPartition(name, 0), UNKNOWN, version=version) == [
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert partitions_of(client.world) == []


async def test_brokers_may_name_internal_topics(client: Client) -> None:
    state = TopicPartition(TRANSACTION_STATE, 0)
    assert await client.add(state, version=4) == [ErrorCode.NONE]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (0, ErrorCode.INVALID_PRODUCER_EPOCH),
        (1, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, ErrorCode.PRODUCER_FENCED),
        (4, ErrorCode.PRODUCER_FENCED),
    ],
)
async def test_a_fenced_producer_hears_it(
    client: Client, version: int, expected: ErrorCode
) -> None:
    await Client(client.world).init()
    assert await client.add(T0, version=version) == [expected]


async def test_a_foreign_producer_id_is_refused(client: Client) -> None:
    client.identity = ProducerIdentity(99, 0)
    assert await client.add(T0) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]
    client.transactional_id = ""
    assert await client.add(T0) == [ErrorCode.INVALID_REQUEST]


@pytest.mark.parametrize(
    ("version", "expected"),
    [(4, ErrorCode.INVALID_TXN_STATE), (5, ErrorCode.TRANSACTION_ABORTABLE)],
)
async def test_brokers_ask_without_adding(
    client: Client, version: int, expected: ErrorCode
) -> None:
    await client.add(T0)
    answers = await client.add(T0, T1, version=version, verify_only=True)
    assert answers == [ErrorCode.NONE, expected]
    assert partitions_of(client.world) == [T0]
