"""EndTxn: the outcome is decided, the partitions hear of it."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from unit.broker.sample_requests import fetch, fetch_partition, fetched
from unit.broker.transaction_client import SETTINGS, T0, Client, begin, find_coordinators
from unit.broker.world import Setting, broker_world, until

WRITE_TXN_MARKERS = 27


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        yield client


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("is_commit", [True, False])
async def test_every_version_ends_a_transaction(
    client: Client, version: int, is_commit: bool
) -> None:
    await client.add(T0)
    assert await client.produce() is ErrorCode.NONE
    log = client.world.partition("t").log
    assert log.last_stable_offset == 0
    assert await client.end(is_commit=is_commit, version=version) is ErrorCode.NONE
    await client.until_complete()
    assert log.last_stable_offset == 2
    request = fetch(fetch_partition(0, 0), isolation=1)
    answer = fetched(await client.world.ask(request, 11))[0]
    assert len(answer.aborted_transactions or ()) == (0 if is_commit else 1)


@pytest.mark.parametrize(
    ("version", "expected"),
    [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED)],
)
async def test_a_zombie_ends_nothing(client: Client, version: int, expected: ErrorCode) -> None:
    await client.add(T0)
    await client.produce()
    successor = Client(client.world)
    assert await successor.init() is ErrorCode.CONCURRENT_TRANSACTIONS
    await client.until_complete()
    assert await successor.init() is ErrorCode.NONE
    assert await client.end(version=version) is expected
    assert client.world.partition("t").log.last_stable_offset == 2


async def test_an_empty_transaction_cannot_end(client: Client) -> None:
    assert await client.end() is ErrorCode.INVALID_TXN_STATE


async def test_a_partition_that_is_deleted_holds_nobody_back(client: Client) -> None:
    world = client.world
    await world.create_topic("short-lived")
    gone = TopicPartition("short-lived", 0)
    await client.add(T0, gone)
    await client.produce()
    await world.broker.topics.delete("short-lived")
    metadata = world.broker.metadata
    await until(world.broker.waiters, lambda: "short-lived" not in metadata.image.topics, "")
    assert await client.end() is ErrorCode.NONE
    await client.until_complete()
    assert world.partition("t").log.last_stable_offset == 2


@pytest.mark.parametrize("is_commit", [True, False])
async def test_what_was_decided_is_completed_after_a_restart(is_commit: bool) -> None:
    setting = Setting()
    async with broker_world(SETTINGS, setting) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        await client.add(T0)
        await client.produce()

        def lose(_: object) -> object:
            async def handle(request: object, context: object, broker: object) -> object:
                raise AssertionError("the marker is lost")

            return handle

        world.dispatcher.wrap(WRITE_TXN_MARKERS, lose)  # type: ignore[arg-type]
        assert await client.end(is_commit=is_commit) is ErrorCode.NONE
        assert world.partition("t").log.last_stable_offset == 0
    async with broker_world(SETTINGS, setting) as world:
        await find_coordinators(world)
        client.world = world
        await client.until_complete()
        label = world.broker.transactions.describe("tx").state.label
        assert label == ("CompleteCommit" if is_commit else "CompleteAbort")
        assert world.partition("t").log.last_stable_offset == 2
        await client.add(T0)
        assert await client.produce() is ErrorCode.NONE
