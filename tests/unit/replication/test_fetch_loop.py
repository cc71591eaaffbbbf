"""One connection to a leader, which is a real broker here."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import Batch
from moldau.protocol.messages.fetch import FetchRequest
from moldau.protocol.messages.list_offsets import ListOffsetsRequest
from moldau.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from moldau.records.batch import stamp, write_batch
from moldau.records.buffers import ReadableBuffer
from moldau.records.record import Record
from moldau.replication import fetcher
from moldau.replication.fetched import checked_batches
from unit.broker.world import START_MS, World, broker_world
from unit.replication.follower_loop import Follower, until_parked
from unit.replication.leader_world import LEADER, T0, follow, lead
from unit.replication.replica_set import Member


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as made:
        await made.create_topic("t")
        yield made


@pytest.mark.parametrize("protocol", ["2.4", "2.8", "3.9"])
async def test_records_and_their_high_watermark_come_over(world: World, protocol: str) -> None:
    follower = Follower(world, protocol)
    lead(world)
    world.append("t", b"a", b"b")
    follower.loop.follow(follow(follower.member))
    log, leader_log = follower.member.log, world.partition("t").log
    await follower.until(lambda: log.log_end_offset == 2 and leader_log.high_watermark == 2)
    assert follower.member.values() == [b"a", b"b"]
    traffic, size = world.broker.traffic, leader_log.size
    assert follower.bytes_in.value == traffic.replication_bytes_out.value == size
    assert traffic.all.bytes_out.value == 0, "of consumers alone"
    world.append("t", b"c")
    await follower.until(lambda: log.log_end_offset == 3)
    assert log.high_watermark == 2, "told with the next records"


async def test_the_leader_hears_of_records_once_they_are_durable(world: World) -> None:
    follower = Follower(world)
    follower.can_sync.clear()
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))
    await follower.until(lambda: follower.member.log.log_end_offset == 1)
    assert len(follower.asked(FetchRequest)) == 1
    assert world.partition("t").log.high_watermark == 0
    follower.can_sync.set()
    await follower.until(lambda: world.partition("t").log.high_watermark == 1)


async def test_topics_are_named_by_their_ids_where_all_have_one(world: World) -> None:
    follower = Follower(world)
    follower.member.log.topic_id = world.partition("t").log.topic_id
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))
    await follower.until(lambda: follower.member.log.log_end_offset == 1)
    (first, *_) = follower.asked(FetchRequest)
    assert isinstance(first, FetchRequest)
    assert first.topics[0].topic_id == follower.member.log.topic_id


@pytest.mark.parametrize("protocol", ["2.7", "2.8", "3.9"])
@pytest.mark.parametrize("has_id", [True, False])
async def test_a_follower_that_keeps_up_replies_at_once(
    world: World, protocol: str, has_id: bool
) -> None:
    follower = Follower(world, protocol)
    log, leader_log = follower.member.log, world.partition("t").log
    log.topic_id = leader_log.topic_id if has_id else None
    lead(world)
    follower.loop.follow(follow(follower.member))

    def is_there() -> bool:
        if leader_log.high_watermark == leader_log.log_end_offset < 20:
            world.append("t", b"%d" % leader_log.log_end_offset)
        return leader_log.high_watermark == 20

    await follower.until(is_there)
    assert follower.member.values() == [b"%d" % number for number in range(20)]
    assert follower.bytes_in.value == log.size == leader_log.size
    (channel,) = follower.channels
    assert len(channel.requests) >= 20
    assert channel.calls == 2, "one to begin the session, one that all others follow from"
    last = channel.requests[-1]
    assert (last.session_epoch, last.topics[0].partitions[0].fetch_offset) == (
        len(channel.requests) - 1,
        20,
    )


async def test_readers_hear_of_what_comes_while_a_follower_keeps_up(world: World) -> None:
    follower = Follower(world)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))
    log, watch = follower.member.log, follower.waiters.watch()

    def is_there() -> bool:
        if len(follower.asked(FetchRequest)) == 2 and world.partition("t").log.log_end_offset == 1:
            watch.add(T0)
            world.append("t", b"b")
        return log.log_end_offset == 2

    await follower.until(is_there)
    assert watch.take() == [T0]
    assert follower.channels[0].calls == 2


async def test_a_flush_that_is_asked_for_is_waited_for_each_time(world: World) -> None:
    follower = Follower(world)
    log, leader_log = follower.member.log, world.partition("t").log
    log.config = TopicConfig(flush_messages=1)
    lead(world)
    follower.loop.follow(follow(follower.member))

    def is_there() -> bool:
        if leader_log.high_watermark == leader_log.log_end_offset < 3:
            world.append("t", b"a")
        return log.log_end_offset == 3

    await follower.until(is_there)
    assert follower.channels[0].calls >= 4, "none of them is replied to at once"
    asked = len(follower.asked(FetchRequest))
    follower.can_sync.clear()
    world.append("t", b"b")
    await follower.until(lambda: log.log_end_offset == 4)
    assert leader_log.high_watermark == 3
    assert len(follower.asked(FetchRequest)) <= asked + 1


async def test_damaged_records_are_asked_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower(world)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))
    log, damages = follower.member.log, [False, True, False]

    def check(records: ReadableBuffer) -> tuple[memoryview, list[Batch]]:
        if records and damages.pop(0):
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE)
        return checked_batches(records)

    def is_there() -> bool:
        follower.clock.time_ms += 1
        if len(follower.asked(FetchRequest)) == 2 and world.partition("t").log.log_end_offset == 1:
            world.append("t", b"b")
        return log.log_end_offset == 2

    monkeypatch.setattr(fetcher, "checked_batches", check)
    await follower.until(is_there)
    assert not damages


@pytest.mark.parametrize("protocol", ["2.4", "3.9"])
async def test_a_log_that_has_parted_is_cut_first(world: World, protocol: str) -> None:
    follower = Follower(world, protocol)
    lead(world, epoch=1)
    world.append("t", b"both")
    follower.loop.follow(follow(follower.member))
    log = follower.member.log
    await follower.until(lambda: log.log_end_offset == 1)
    follower.member.log.append_as_follower(log_batch(follower.member, epoch=2), now_ms=0)
    lead(world, epoch=3)
    world.append("t", b"new")
    follower.loop.follow(follow(follower.member, epoch=3))
    await follower.until(lambda: follower.member.values() == [b"both", b"new"])
    assert bool(follower.asked(OffsetForLeaderEpochRequest)) == (protocol == "2.4")


async def test_what_is_out_of_range_begins_where_the_leader_begins(world: World) -> None:
    follower = Follower(world)
    lead(world, isr=(LEADER,))
    world.clock.time_ms += 60_000
    world.append("t", b"a")
    world.append("t", b"b")
    world.partition("t").log.raise_log_start(1)
    follower.loop.follow(follow(follower.member))
    log = follower.member.log
    await follower.until(lambda: log.log_end_offset == 2)
    assert log.log_start_offset == 1
    assert len(follower.asked(ListOffsetsRequest)) == 2


async def test_newcomers_do_not_wait_for_a_request_that_waits(world: World) -> None:
    follower = Follower(world)
    lead(world)
    follower.loop.follow(follow(follower.member))
    log = follower.member.log

    async def add_another() -> None:
        await until_parked(follower)
        follower.loop.interrupt()

    adding = asyncio.ensure_future(add_another())
    await follower.until(lambda: len(follower.channels) == 2)
    await adding
    world.append("t", b"a")
    await follower.until(lambda: log.log_end_offset == 1)


async def test_many_newcomers_one_after_the_other_do_not_hang_up_each_time(world: World) -> None:
    follower = Follower(world)
    lead(world)
    follower.loop.follow(follow(follower.member))

    async def add_others() -> None:
        await until_parked(follower)
        follower.loop.interrupt()
        await until_parked(follower, channel_count=2)
        follower.loop.interrupt()
        assert follower.loop._channel is not None, "this one waits for the answer"
        follower.clock.time_ms += 2
        follower.loop.interrupt()
        assert follower.loop._channel is None

    adding = asyncio.ensure_future(add_others())
    await follower.until(lambda: len(follower.channels) == 3)
    await adding


async def test_a_lost_connection_is_made_again(world: World) -> None:
    follower = Follower(world)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))
    channel = follower._open(LEADER)
    assert channel is not None
    channel.is_cut = True
    await follower.until(lambda: follower.member.log.log_end_offset == 1)


async def test_a_leader_that_nobody_knows_is_looked_for_again(world: World) -> None:
    follower = Follower(world, is_known=False)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))

    def is_there() -> bool:
        follower.is_known = True
        return follower.member.log.log_end_offset == 1

    await follower.until(is_there)


async def test_a_session_that_the_leader_has_forgotten_is_begun_anew(world: World) -> None:
    follower = Follower(world)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))
    log, sessions = follower.member.log, world.broker.fetch_sessions

    def is_there() -> bool:
        if log.log_end_offset == 1 and len(sessions):
            sessions._sessions.clear()
            world.append("t", b"b")
        return log.log_end_offset == 2

    await follower.until(is_there)


async def test_a_throttled_replica_that_is_behind_waits(world: World) -> None:
    follower = Follower(world, listed=("*",))
    lead(world)
    for _ in range(3):
        world.append("t", bytes(600_000))
    follower.loop.follow(follow(follower.member))
    log = follower.member.log
    await follower.until(lambda: log.log_end_offset > 0)
    assert follower.throttle.holds_up(follow(follower.member), now_ms=START_MS)
    assert log.log_end_offset < 3
    follower.limit = 2**40
    await follower.until(lambda: log.log_end_offset == 3)


async def test_a_partition_that_is_dropped_is_fetched_no_more(world: World) -> None:
    follower = Follower(world)
    lead(world)
    follower.loop.follow(follow(follower.member))
    follower.loop.drop(T0)
    assert not follower.loop.fetcher


def log_batch(member: Member, epoch: int) -> bytes:
    """A batch behind what the member has, that the leader does not have."""
    offset = member.log.log_end_offset
    made = write_batch([Record(offset, 1_000, None, b"lost", ())], base_offset=offset)
    stamp(made, 0, base_offset=offset, leader_epoch=epoch)
    return bytes(made)
