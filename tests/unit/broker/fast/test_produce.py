"""The fast path of Produce takes what its codec can read, whatever comes of it."""

import pytest

from moldau.broker.context import Context
from moldau.broker.fast.produce_frame import VERSION_MAX, VERSION_MIN
from moldau.net.answer import Promised
from moldau.replication.partition import PartitionState
from unit.broker.access_world import client
from unit.broker.sample_requests import produce, produced
from unit.broker.ways import Way
from unit.broker.world import CLIENT, START_MS, batch_of, broker_world, frame_of

VERSIONS = range(VERSION_MIN, VERSION_MAX + 1)
PRODUCE = 0


@pytest.mark.parametrize("way", [Way.FAST, Way.UNCOMPILED])
@pytest.mark.parametrize("version", VERSIONS)
async def test_common_requests_take_the_fast_path_whatever_comes_of_them(
    way: Way, version: int
) -> None:
    async with broker_world(way=way) as world:
        await world.create_topic("t")
        await world.create_topic("flushed", overrides={"flush.messages": "1"})
        sound, damaged = batch_of(b"a", timestamp=START_MS), batch_of(b"a")
        damaged[-1] ^= 1
        cases = [
            ("t", sound, 0),
            ("t", damaged, 2),
            ("nowhere", sound, 3),
            ("flushed", sound, 0),
        ]
        for count, (topic, batch, code) in enumerate(cases, start=1):
            response = await world.ask(produce(bytes(batch), topic=topic), version)
            assert produced(response).error_code == code
            assert world.fast_paths.answered[PRODUCE] == count


@pytest.mark.parametrize("way", [Way.FAST, Way.UNCOMPILED])
async def test_a_failure_while_it_waits_ends_the_connection(way: Way) -> None:
    async with broker_world(way=way) as world:
        await world.create_topic("t")
        partition, broker = world.partition("t"), world.broker
        partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=START_MS)
        frame = frame_of(produce(batch_of(b"a"), acks=-1, timeout_ms=60_000), 9)
        promised = world.begin(CLIENT, frame)
        assert isinstance(promised, Promised)
        told: list[Promised] = []
        promised.notify = told.append
        clock, broker.clock = broker.clock, None  # type: ignore[assignment]
        partition.note_fetch(1, 1, log_start_offset=0, now_ms=START_MS)
        broker.waiters.wake(partition.topic_partition)
        broker.clock = clock
        assert told == [promised]
        assert isinstance(promised.outcome, AttributeError)


@pytest.mark.parametrize("way", [Way.FAST, Way.UNCOMPILED])
async def test_the_context_of_a_connection_is_made_once_for_a_version_and_a_client_id(
    way: Way,
) -> None:
    async with broker_world(way=way) as world:
        await world.create_topic("t")
        alice = client("alice")
        contexts: list[Context] = []
        for version, client_id in ((9, "a"), (9, "a"), (9, "b"), (8, "b")):
            await world.ask(produce(batch_of(b"a")), version, client=alice, client_id=client_id)
            assert alice.context is not None
            contexts.append(alice.context)
        first, again, *others = contexts
        assert first is again
        assert [(one.client_id, one.api_version) for one in others] == [("b", 9), ("b", 8)]
