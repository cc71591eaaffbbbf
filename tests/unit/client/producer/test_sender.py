"""Batches reach their leader whatever happens on the way, once and in order."""

import asyncio
from collections.abc import Callable

import pytest

from moldau.client.producer.producer import Producer
from moldau.errors import (
    ClusterAuthorizationFailed,
    ErrorCode,
    InvalidRecord,
    KafkaError,
    NetworkException,
    RequestTimedOut,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Delay, Drop, Fail, Lose

Numbers = list[bytes]


def producer_of(kafka: EmbeddedBroker, **settings: object) -> Producer[bytes, bytes]:
    quick = {"retry_backoff_ms": 5, "batch_size": 100, **settings}
    mapping = {name.replace("_", "."): value for name, value in quick.items()}
    return Producer({"bootstrap.servers": kafka.bootstrap_servers, **mapping})


def sometimes(action: Action, *, on: set[int]) -> Callable[[Call], Action]:
    """The action for the requests with these numbers, counted from 1."""
    count = 0

    def decide(_call: Call) -> Action:
        nonlocal count
        count += 1
        return action if count in on else None

    return decide


async def send_numbers(producer: Producer[bytes, bytes], count: int) -> Numbers:
    """Many small batches, so that several are on their way at a time."""
    sent = [b"%06d" % number for number in range(count)]
    results = [await producer.send("t", value, partition=0) for value in sent]
    await asyncio.gather(*results)
    return sent


def stored(kafka: EmbeddedBroker) -> list[bytes | None]:
    return [record.value for record in kafka.records("t")[0]]


@pytest.mark.parametrize(
    "action",
    [
        Drop(),
        Lose(),
        Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        Fail(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        Delay(0.02),
    ],
)
async def test_faults_lose_nothing_double_nothing_and_keep_the_order(
    kafka: EmbeddedBroker, action: Action
) -> None:
    kafka.control("Produce", sometimes(action, on={1, 4, 5, 9}))
    async with producer_of(kafka) as producer:
        sent = await send_numbers(producer, 200)
    assert stored(kafka) == sent


async def test_a_retry_goes_out_after_the_one_that_held_it_back(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka, retry_backoff_ms=60) as producer:
        await producer.send_and_wait("t", b"0" * 100)
        requests = 0

        def decide(_call: Call) -> Action:
            nonlocal requests
            requests += 1
            # The second is refused later than the first: its backoff is not over yet when
            # the first is stored, and nothing else happens then.
            if requests == 1:
                return Fail(ErrorCode.NOT_ENOUGH_REPLICAS)
            return Delay(0.03) if requests == 2 else None

        kafka.control("Produce", decide)
        for digit in (b"1", b"2"):
            await producer.send("t", digit * 100)
        async with asyncio.timeout(10):
            await producer.flush()
    assert requests == 4
    assert stored(kafka) == [digit * 100 for digit in (b"0", b"1", b"2")]


@pytest.mark.parametrize("is_lost", [False, True])
async def test_what_lingers_goes_out_after_a_batch_that_was_sent_alone(
    kafka: EmbeddedBroker, *, is_lost: bool
) -> None:
    """An exclusive batch holds back the next one, whose linger may still be going on then."""
    async with producer_of(kafka, linger_ms=60) as producer:
        sender = producer.sender
        await producer.send_and_wait("t", b"0")
        first = await producer.send("t", b"1")
        (batch,) = sender.accumulator
        assert sender.accumulator.take_alone(batch, sender.identity)
        second = await producer.send("t", b"2")
        await asyncio.sleep(0)  # the sender sees that nothing may be sent
        if is_lost:
            sender.settlement.fail(batch, KafkaError(ErrorCode.INVALID_RECORD, "too odd"))
        else:
            sender.settlement.deliver(batch, 1, -1)
        async with asyncio.timeout(10):
            await asyncio.gather(first, second, return_exceptions=True)
    assert stored(kafka) == [b"0", b"2"]


async def test_a_batch_that_fails_for_good_does_not_stop_those_behind_it(
    kafka: EmbeddedBroker,
) -> None:
    kafka.control("Produce", sometimes(Fail(ErrorCode.INVALID_RECORD), on={2}))
    async with producer_of(kafka) as producer:
        results = [await producer.send("t", b"%06d" % number) for number in range(100)]
        outcomes = await asyncio.gather(*results, return_exceptions=True)
    failed = [row for row, outcome in enumerate(outcomes) if isinstance(outcome, InvalidRecord)]
    assert 0 < len(failed) < 50
    assert stored(kafka) == [b"%06d" % number for number in range(100) if number not in failed]


async def test_what_cannot_be_delivered_in_time_fails(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Fail(ErrorCode.NOT_ENOUGH_REPLICAS))
    times = {"delivery_timeout_ms": 200, "request_timeout_ms": 100}
    async with producer_of(kafka, **times) as producer:
        with pytest.raises(
            RequestTimedOut, match=r"t-0: not delivered in 200 ms: .*the test says so"
        ):
            await producer.send_and_wait("t", b"v")


async def test_after_a_batch_that_expired_the_next_is_stored(kafka: EmbeddedBroker) -> None:
    release = kafka.control("Produce", lambda _: Drop())
    times = {"delivery_timeout_ms": 200, "request_timeout_ms": 100}
    async with producer_of(kafka, **times) as producer:
        with pytest.raises(RequestTimedOut):
            await producer.send_and_wait("t", b"lost")
        release()
        await producer.send_and_wait("t", b"next")
    assert stored(kafka) == [b"next"]


async def test_without_retries_the_first_failure_is_the_last(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", sometimes(Drop(), on={1}))
    async with producer_of(kafka, enable_idempotence=False, retries=0) as producer:
        with pytest.raises(NetworkException):
            await producer.send_and_wait("t", b"v")


async def test_without_a_producer_id_records_fail_with_the_reason(kafka: EmbeddedBroker) -> None:
    kafka.control("InitProducerId", lambda _: Fail(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    async with producer_of(kafka) as producer:
        with pytest.raises(ClusterAuthorizationFailed):
            await producer.send_and_wait("t", b"v")


async def test_a_producer_id_is_asked_for_until_it_comes(kafka: EmbeddedBroker) -> None:
    not_yet = Fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    kafka.control("InitProducerId", sometimes(not_yet, on={1, 2}))
    async with producer_of(kafka) as producer:
        assert (await producer.send_and_wait("t", b"v")).offset == 0


async def test_no_more_requests_are_on_their_way_than_allowed(kafka: EmbeddedBroker) -> None:
    calls: list[Call] = []

    def hold(call: Call) -> Action:
        calls.append(call)
        return Delay(0.01)

    kafka.control("Produce", hold)
    async with producer_of(kafka, max_in_flight_requests_per_connection=1) as producer:
        sent = await send_numbers(producer, 30)
    assert stored(kafka) == sent
    assert len(calls) > 5


async def test_a_batch_that_the_broker_finds_too_large_is_split(kafka: EmbeddedBroker) -> None:
    def refuse(call: Call) -> Action:
        (topic,) = call.request.topic_data
        (partition,) = topic.partition_data
        is_large = len(partition.records) > 500
        return Fail(ErrorCode.MESSAGE_TOO_LARGE) if is_large else None

    kafka.control("Produce", refuse)
    async with producer_of(kafka, batch_size=4000) as producer:
        sent = await send_numbers(producer, 500)
        await producer.send("t", b"x" * 1000, partition=0)
        results = [await producer.send("t", b"v", partition=0) for _ in range(3)]
        assert [(await result).offset for result in results] == [500, 501, 502]
    assert stored(kafka) == [*sent, b"v", b"v", b"v"]


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
async def test_levels_of_compression_are_heeded(kafka: EmbeddedBroker, codec: str) -> None:
    sizes: list[int] = []

    def weigh(call: Call) -> None:
        sizes.append(len(call.request.topic_data[0].partition_data[0].records))

    kafka.control("Produce", weigh)
    values = [b"%d and the same again, %d" % (number, number**3) for number in range(500)]
    for level in (3, 8) if codec == "lz4" else (1, 9):
        settings = {"compression_type": codec, f"compression_{codec}_level": level}
        async with producer_of(kafka, batch_size=100_000, linger_ms=100, **settings) as producer:
            for value in values:
                await producer.send("t", value, partition=0)
    assert len(sizes) == 2
    assert sizes[1] < sizes[0]
    assert stored(kafka) == values * 2
