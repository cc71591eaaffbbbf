"""Quotas of a whole broker: on every way of a request, for who asks, and for nobody else."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.context import Client
from moldau.broker.quotas.sensors import IDLE_MS
from moldau.broker.settings.client_quotas import Entity, QuotaChange
from moldau.errors import ErrorCode
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest
from moldau.replication.partition import PartitionState
from moldau.security.principals import Principal
from unit.broker.group_client import SETTINGS, commit_request, find_coordinator
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    in_session,
    produce,
    produced,
)
from unit.broker.ways import FAST_APIS, Way
from unit.broker.world import SettableClock, Setting, World, batch_of, broker_world, frame_of

PRODUCE, FETCH = FAST_APIS[0], FAST_APIS[1]


class TickingClock(SettableClock):
    """A clock that goes on a little with every look at the nanoseconds, once it is told to."""

    tick_ns = 0
    _ahead_ns = 0

    def monotonic_ns(self) -> int:
        self._ahead_ns += self.tick_ns
        return super().monotonic_ns() + self._ahead_ns


@pytest.fixture(params=Way, ids=[way.value for way in Way])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    setting = Setting(clock=TickingClock())
    async with broker_world(SETTINGS, setting, request.param) as world:
        await world.create_topic("t", 2)
        yield world


class Muted:
    """A client, and for how long it was muted each time."""

    def __init__(self, user: str = "ANONYMOUS") -> None:
        self.times: list[int] = []
        self.client = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092)
        self.client.principal = Principal("User", user)
        self.client.mute = self.times.append


async def limit(world: World, entity: Entity | None = None, **quotas: float | None) -> None:
    changes = [QuotaChange(key, value) for key, value in quotas.items()]
    entity = entity or {"client-id": "test"}
    await world.broker.client_quotas.alter(entity, changes, is_only_checked=False)


def burn(world: World, tick_ns: int) -> None:
    """Let every request take time."""
    assert isinstance(world.clock, TickingClock)
    world.clock.tick_ns = tick_ns


# Produce


@pytest.mark.parametrize("version", range(3, 12))
async def test_a_producer_is_answered_at_once_and_muted(world: World, version: int) -> None:
    await limit(world, producer_byte_rate=100)
    request = produce(batch_of(b"x" * 3000))
    size = len(frame_of(request, version))
    muted = Muted()
    response = await world.ask(request, version, client=muted.client)
    assert produced(response).error_code == ErrorCode.NONE
    expected = size * 10 - 10_000
    assert (response.throttle_time_ms, muted.times) == (expected, [expected])


async def test_a_producer_of_the_first_version_is_not_told_and_muted_all_the_same(
    world: World,
) -> None:
    await limit(world, producer_byte_rate=1)
    muted = Muted()
    await world.ask(produce(b""), 0, client=muted.client)
    assert muted.times[0] > 0


async def test_an_error_tells_the_time_as_well(world: World) -> None:
    await limit(world, producer_byte_rate=1)
    response = await world.ask(produce(batch_of(b"x"), number=9), 9)
    assert produced(response).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert response.throttle_time_ms > 0


async def test_a_producer_without_acks_is_muted(world: World) -> None:
    await limit(world, producer_byte_rate=1, request_percentage=0.001)
    burn(world, 1_000_000)
    muted = Muted()
    assert await world.ask(produce(batch_of(b"x"), acks=0), 9, client=muted.client) is None
    (throttle_ms,) = muted.times
    assert throttle_ms > 1000, "for its bytes, and not for the time"


async def test_the_bytes_count_when_the_replicas_have_them(world: World) -> None:
    await limit(world, producer_byte_rate=1)
    partition = world.partition("t")
    partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=world.clock.now_ms())
    muted = Muted()
    request = produce(batch_of(b"x"), acks=-1, timeout_ms=60_000)
    asking = await world.park(request, 9, client=muted.client)
    assert muted.times == []
    await world.ask(as_follower(fetch(fetch_partition(offset=1, epoch=1)), 1, 11), 11)
    response = await asking
    assert [response.throttle_time_ms] == muted.times
    assert muted.times[0] > 0


# Fetch


@pytest.mark.parametrize("version", range(4, 13))
async def test_a_consumer_that_had_enough_gets_an_empty_answer_and_a_time(
    world: World, version: int
) -> None:
    await limit(world, consumer_byte_rate=100)
    world.append("t", b"x" * 800)
    muted = Muted()
    first = await world.ask(fetch(fetch_partition()), version, client=muted.client)
    assert (first.throttle_time_ms, muted.times) == (0, [])
    assert fetched(first)[0].records
    second = await world.ask(fetch(fetch_partition()), version, client=muted.client)
    assert fetched(second) == {}
    assert (second.error_code if version >= 7 else 0) == ErrorCode.NONE
    assert [second.throttle_time_ms] == muted.times
    assert second.throttle_time_ms > 0
    # What it did not get does not count.
    world.clock.time_ms += muted.times[0]
    again = await world.ask(fetch(fetch_partition()), version, client=muted.client)
    assert again.throttle_time_ms <= muted.times[0]
    world.clock.time_ms += 20_000
    last = await world.ask(fetch(fetch_partition()), version, client=muted.client)
    assert fetched(last)[0].records


async def test_answers_are_no_larger_than_can_pass(world: World) -> None:
    await limit(world, consumer_byte_rate=100)
    for _ in range(20):
        world.append("t", b"x" * 200)
    response = await world.ask(fetch(fetch_partition(), max_wait_ms=60_000, min_bytes=5_000), 11)
    records = fetched(response)[0].records
    assert records is not None
    assert 500 < len(records) <= 1_000


async def test_a_batch_that_is_larger_passes_after_a_silence(world: World) -> None:
    await limit(world, consumer_byte_rate=10)
    world.append("t", b"x" * 1000)
    for _ in range(2):
        assert fetched(await world.ask(fetch(fetch_partition()), 11))[0].records
        assert fetched(await world.ask(fetch(fetch_partition()), 11)) == {}
        world.clock.time_ms += 100_000


async def test_an_empty_answer_begins_no_session_and_changes_none(world: World) -> None:
    await limit(world, consumer_byte_rate=100)
    world.append("t", b"x" * 900)
    begun = await world.ask(in_session(fetch(fetch_partition()), 0, 0), 11)
    assert begun.session_id != 0
    refused = await world.ask(in_session(fetch(fetch_partition()), 0, 0), 11)
    assert (refused.session_id, refused.responses) == (0, [])
    assert len(world.broker.fetch_sessions) == 1
    empty = await world.ask(in_session(fetch(), begun.session_id, 1), 11)
    assert (empty.session_id, empty.responses, empty.error_code) == (begun.session_id, [], 0)
    assert empty.throttle_time_ms > 0
    world.clock.time_ms += 20_000
    later = await world.ask(in_session(fetch(), begun.session_id, 2), 11)
    assert fetched(later)[0].records


async def test_followers_are_exempt(world: World) -> None:
    everybody: Entity = {"client-id": None}
    await limit(world, everybody, consumer_byte_rate=1, request_percentage=0.001)
    burn(world, 1_000_000)
    partition = world.partition("t")
    partition.lead(PartitionState(1, 0, 1, (0,), 0, (0, 1)), now_ms=world.clock.now_ms())
    world.append("t", b"x" * 5000)
    muted = Muted()
    request = as_follower(fetch(fetch_partition(epoch=1)), 1, 11)
    response = await world.ask(request, 11, client=muted.client)
    assert fetched(response)[0].records
    assert (response.throttle_time_ms, muted.times) == (0, [])
    assert world.broker.quotas.exempt.per_second(world.clock.monotonic_ms()) > 0


# Time


async def test_every_request_costs_time_and_all_are_told_to_wait(world: World) -> None:
    await limit(world, request_percentage=0.001)
    await find_coordinator(world)
    burn(world, 10_000_000)
    world.append("t", b"x")
    for request, version in (
        (produce(batch_of(b"x")), 9),
        (fetch(fetch_partition()), 11),
        (commit_request(("t", 0, 5)), 8),
        (commit_request(("t", 0, 5)), 7),
        (MetadataRequest(topics=[]), 9),
        (ApiVersionsRequest(), 2),
    ):
        muted = Muted()
        response = await world.ask(request, version, client=muted.client)
        assert (response.throttle_time_ms, muted.times) == (1000, [1000]), type(request)


async def test_records_come_with_the_time_to_wait_for_other_reasons(world: World) -> None:
    await limit(world, request_percentage=0.001)
    burn(world, 10_000_000)
    world.append("t", b"x")
    response = await world.ask(fetch(fetch_partition()), 11)
    assert response.throttle_time_ms == 1000
    assert fetched(response)[0].records


async def test_a_client_that_is_refused_has_taken_time_too(world: World) -> None:
    await limit(world, request_percentage=0.001)
    burn(world, 10_000_000)
    response = await world.ask(produce(batch_of(b"x"), acks=7), 9)
    assert produced(response).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert response.throttle_time_ms == 1000


async def test_the_longer_of_two_waits_counts(world: World) -> None:
    await limit(world, producer_byte_rate=1, request_percentage=0.001)
    burn(world, 10_000_000)
    response = await world.ask(produce(batch_of(b"x")), 9)
    assert response.throttle_time_ms > 1000
    await limit(world, producer_byte_rate=1_000_000)
    response = await world.ask(produce(batch_of(b"x")), 9)
    assert response.throttle_time_ms == 1000


async def test_requests_of_brokers_are_exempt(world: World) -> None:
    await limit(world, {"user": None}, request_percentage=0.001)
    burn(world, 10_000_000)
    muted = Muted()
    request = UpdateMetadataRequest(
        controller_id=99, controller_epoch=0, broker_epoch=-1, topic_states=[], live_brokers=[]
    )
    await world.ask(request, 6, client=muted.client)
    assert muted.times == []


# Who


async def test_who_has_no_quota_is_not_slowed_down(world: World) -> None:
    await limit(world, {"client-id": "other"}, producer_byte_rate=1, request_percentage=0.001)
    burn(world, 10_000_000)
    response = await world.ask(produce(batch_of(b"x" * 5000)), 9)
    assert response.throttle_time_ms == 0
    assert len(world.broker.quotas.produce.sensors) == 0


async def test_two_connections_of_a_client_share_its_quota(world: World) -> None:
    await limit(world, producer_byte_rate=1000)
    request = produce(batch_of(b"x" * 8000))
    one, other = Muted(), Muted()
    assert (await world.ask(request, 9, client=one.client)).throttle_time_ms == 0
    assert (await world.ask(request, 9, client=other.client)).throttle_time_ms > 0
    assert (one.times, len(other.times)) == ([], 1)


async def test_a_connection_is_held_to_the_quota_of_its_user_and_client_id(world: World) -> None:
    await limit(world, {"user": "anna"}, producer_byte_rate=1)
    muted, request = Muted("bert"), produce(batch_of(b"x"))

    async def throttle_ms() -> int:
        response = await world.ask(request, 9, client=muted.client, client_id="c")
        told: int = response.throttle_time_ms
        return told

    assert await throttle_ms() == 0
    muted.client.principal = Principal("User", "anna")  # once it has logged in
    assert await throttle_ms() > 0
    await limit(world, {"user": "anna", "client-id": "c"}, producer_byte_rate=1_000_000)
    assert await throttle_ms() == 0


async def test_a_changed_quota_holds_for_what_was_used_before(world: World) -> None:
    await limit(world, producer_byte_rate=1_000_000)
    request = produce(batch_of(b"x" * 5000))
    assert (await world.ask(request, 9)).throttle_time_ms == 0
    await limit(world, producer_byte_rate=100)
    size = len(frame_of(request, 9))
    assert (await world.ask(request, 9)).throttle_time_ms == 2 * size * 10 - 10_000
    await limit(world, producer_byte_rate=None)
    assert (await world.ask(request, 9)).throttle_time_ms == 0
    assert not world.broker.quotas.is_set


async def test_connections_do_not_keep_a_sensor_that_was_forgotten(world: World) -> None:
    await limit(world, {"client-id": None}, producer_byte_rate=1000)
    request = produce(batch_of(b"x" * 8000))
    one, other = Muted(), Muted()
    await world.ask(request, 9, client=one.client)
    world.clock.time_ms += IDLE_MS
    await world.ask(request, 9, client=other.client, client_id="newcomer")
    await world.ask(request, 9, client=other.client)
    assert (await world.ask(request, 9, client=one.client)).throttle_time_ms > 0


async def test_throttle_times_are_among_those_of_the_api(world: World) -> None:
    await limit(world, producer_byte_rate=1)
    response = await world.ask(produce(batch_of(b"x")), 9)
    name = 'kafka_network_requestmetrics_throttletimems_sum{request="Produce"}'
    (line,) = (line for line in world.broker.metrics.text().splitlines() if line.startswith(name))
    assert float(line.split()[1]) == response.throttle_time_ms
