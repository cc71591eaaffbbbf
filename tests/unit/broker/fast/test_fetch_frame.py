"""Hostile bytes are never taken for a plain Fetch request with another meaning."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.fast.fetch import FetchExpress
from moldau.broker.fast.fetch_frame import NOT_PLAIN, VERSION_MAX, VERSION_MIN, Question, Want
from moldau.broker.metrics.request_times import RequestTimes
from moldau.net.answer import Parked
from moldau.runtime.metrics import Counter, Metrics
from unit.broker.requests import fetch, fetch_partition
from unit.broker.world import CLIENT, World, broker_world, bytes_of, frame_of

VERSIONS = range(VERSION_MIN, VERSION_MAX + 1)
FETCH = 1
TOPIC_ID = bytes(range(16))


def frame(version: int) -> bytearray:
    topic = TOPIC_ID if version >= 13 else "t"
    request = fetch(fetch_partition(), fetch_partition(1, 7, epoch=3), topic=topic, max_wait_ms=5)
    return frame_of(request, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plain_request_is_read(version: int) -> None:
    question = Question(memoryview(frame(version)), {TOPIC_ID: "t"})
    topic_id = TOPIC_ID if version >= 13 else None
    name = topic_id or b"t"
    assert question.wants == [
        Want("t", name, topic_id, 0, -1, 0, 1_000_000),
        Want("t", name, topic_id, 1, 3, 7, 1_000_000),
    ]
    assert (question.version, question.max_wait_ms, question.min_bytes) == (version, 5, 1)
    assert not question.is_read_committed


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_too_short_or_too_long_is_not_plain(version: int) -> None:
    whole = frame(version)
    for wrong in [whole[:size] for size in range(len(whole))] + [whole + b"\0"]:
        with pytest.raises(NOT_PLAIN):
            Question(memoryview(wrong), {TOPIC_ID: "t"})


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 3)
        world.append("t", b"a")
        yield world


@pytest.mark.parametrize("version", VERSIONS)
async def test_no_change_of_a_byte_does_harm(world: World, version: int) -> None:
    topic = world.broker.metadata.image.topics["t"].topic_id if version >= 13 else "t"
    plain = frame_of(fetch(fetch_partition(), fetch_partition(1), topic=topic), version)
    counters = {version: Counter() for version in range(18)}
    way = FetchExpress(world.broker, RequestTimes(Metrics(), "Fetch"), counters)
    world.dispatcher.wrap(FETCH, lambda handle: handle)
    answered = 0
    for position in range(len(plain)):
        for byte in {0, 1, 2, 0x7F, 0x80, 0xFF, plain[position] ^ 1, plain[position] ^ 0x10}:
            changed = bytearray(plain)
            changed[position] = byte
            answer = way.respond(CLIENT, memoryview(changed))
            if isinstance(answer, Parked):
                answer.cancel()
            elif answer is not None:
                answered += 1
                assert bytes_of(answer) == bytes_of(await world.respond(CLIENT, changed))
            assert world.broker.waiters.counts["Fetch"] == 0
    assert answered > 0
