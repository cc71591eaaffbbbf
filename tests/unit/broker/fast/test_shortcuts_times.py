"""What requests take is recorded and charged alike, on fast paths and by handlers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from moldau.broker.fast.shortcuts import FETCH, OFFSET_COMMIT, PRODUCE, make_shortcuts
from moldau.broker.metrics.request_times import times_of_api
from moldau.broker.settings.client_quotas import QuotaChange
from moldau.replication.partition import Partition, PartitionState
from moldau.runtime.metrics import Metrics
from unit.broker.group_client import SETTINGS, commit_request, find_coordinator
from unit.broker.sample_requests import fetch, fetch_partition, produce
from unit.broker.ways import Way
from unit.broker.world import CLIENT, World, batch_of, broker_world, frame_of

VERSIONS = {"Produce": 9, "FetchConsumer": 12, "OffsetCommit": 8}
REQUESTS: dict[str, Callable[[], Any]] = {
    "Produce": lambda: produce(batch_of(b"a"), acks=-1, timeout_ms=60_000),
    "FetchConsumer": lambda: fetch(fetch_partition(), max_wait_ms=60_000),
    "OffsetCommit": lambda: commit_request(("t", 0, 5)),
}
APIS = pytest.mark.parametrize("api", VERSIONS)


@pytest.fixture(params=Way, ids=[way.value for way in Way])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with broker_world(SETTINGS, way=request.param) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        yield world


async def ask(world: World, api: str) -> Any:
    return await world.ask(REQUESTS[api](), VERSIONS[api])


async def limit(world: World, **quotas: float) -> None:
    changes = [QuotaChange(key, value) for key, value in quotas.items()]
    await world.broker.client_quotas.alter({"client-id": "test"}, changes, is_only_checked=False)


def spent_ms(world: World, api: str, name: str) -> float:
    """The sum of one of the times of an API's requests."""
    start = f'kafka_network_requestmetrics_{name}_sum{{request="{api}"}}'
    (line,) = [one for one in world.broker.metrics.text().splitlines() if one.startswith(start)]
    return float(line.split()[1])


def replicate(world: World, partition: Partition) -> None:
    """Have another broker follow a partition in sync, so that it is waited for."""
    partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=world.clock.now_ms())


def catch_up(world: World, partition: Partition) -> None:
    end_offset = partition.log.log_end_offset
    partition.note_fetch(1, end_offset, log_start_offset=0, now_ms=world.clock.now_ms())
    world.broker.waiters.wake(partition.topic_partition)


async def parked(world: World, api: str) -> tuple["asyncio.Task[Any]", Callable[[], None]]:
    """A request that waits, and what ends its wait."""
    if api == "FetchConsumer":
        asking = await world.park(REQUESTS[api](), VERSIONS[api])
        return asking, lambda: world.append("t", b"a")
    number = world.broker.groups.shards.partition_of("g")
    partition = (
        world.partition("t") if api == "Produce" else world.partition("__consumer_offsets", number)
    )
    replicate(world, partition)
    asking = await world.park(REQUESTS[api](), VERSIONS[api])
    return asking, lambda: catch_up(world, partition)


@APIS
async def test_a_wait_is_remote_time(world: World, api: str) -> None:
    asking, end = await parked(world, api)
    world.clock.time_ms += 500
    end()
    await asking
    times = [spent_ms(world, api, name) for name in ("localtimems", "remotetimems")]
    assert times == [0, 500]


@APIS
async def test_a_wait_is_not_charged(world: World, api: str) -> None:
    await limit(world, request_percentage=0.001)
    asking, end = await parked(world, api)
    world.clock.time_ms += 500
    end()
    assert (await asking).throttle_time_ms == 0


@APIS
async def test_what_took_no_time_uses_nothing_of_its_quota(world: World, api: str) -> None:
    await limit(world, request_percentage=0.001)
    world.append("t", b"a")
    assert (await ask(world, api)).throttle_time_ms == 0


@pytest.mark.parametrize(
    ("api", "quota"), [("Produce", "producer_byte_rate"), ("FetchConsumer", "consumer_byte_rate")]
)
async def test_what_clients_are_throttled_for_is_recorded(
    world: World, api: str, quota: str
) -> None:
    await limit(world, **{quota: 1})
    world.append("t", b"a" * 100)
    times = [(await ask(world, api)).throttle_time_ms for _ in range(2)]
    assert spent_ms(world, api, "throttletimems") == sum(times) > 0


@pytest.mark.parametrize("quota", ["producer_byte_rate", "consumer_byte_rate"])
async def test_what_was_used_a_second_ago_counts_and_an_hour_ago_does_not(
    world: World, quota: str
) -> None:
    api = "Produce" if quota == "producer_byte_rate" else "FetchConsumer"
    await limit(world, **{quota: 10})
    world.append("t", b"a" * 100)
    throttled = []
    for pause_ms in (1_500, 3_600_000, 0):
        throttled.append((await ask(world, api)).throttle_time_ms)
        world.clock.time_ms += pause_ms
    assert throttled[0] == throttled[2] < throttled[1]


@pytest.mark.parametrize(
    ("api_key", "api"),
    [(PRODUCE, "Produce"), (FETCH, "FetchConsumer"), (OFFSET_COMMIT, "OffsetCommit")],
)
async def test_a_version_without_a_counter_is_the_handlers(
    world: World, api_key: int, api: str
) -> None:
    make = make_shortcuts(world.broker)[api_key]
    shortcut = make(times_of_api(Metrics(), api.removesuffix("Consumer")), {})
    frame = frame_of(REQUESTS[api](), VERSIONS[api])
    assert shortcut(CLIENT, memoryview(frame)) is None
    assert world.partition("t").log.log_end_offset == 0
