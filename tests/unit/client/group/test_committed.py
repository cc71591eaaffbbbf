"""Offsets of a group, stored and looked up."""

import asyncio

import pytest

from moldau.client.producer.producer import Producer
from moldau.errors import ErrorCode, GroupAuthorizationFailed, InvalidGroupId, RequestTimedOut
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Drop, Fail
from unit.client.group.members import member_of
from unit.client.reading import read, write
from unit.waiting import LoopTime, until

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"num.partitions": "3"}


async def test_what_is_committed_is_found_again(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka, enable_auto_commit=False) as consumer:
        await consumer.partitions_of("t")
        await consumer.commit({T0: 7})
    async with member_of(kafka) as consumer:
        assert await consumer.committed([T0, T1]) == {T0: 7}
        assert await consumer.committed([]) == {}


@pytest.mark.parametrize("api", ["OffsetCommit", "OffsetFetch"])
@pytest.mark.parametrize("action", [Fail(ErrorCode.NOT_COORDINATOR), Drop()])
async def test_a_coordinator_that_moves_is_followed(
    kafka: EmbeddedBroker, api: str, action: Action
) -> None:
    calls: list[Call] = []

    def once(call: Call) -> Action:
        calls.append(call)
        return action if len(calls) == 1 else None

    kafka.control(api, once)
    async with member_of(kafka, enable_auto_commit=False) as consumer:
        await consumer.partitions_of("t")
        await consumer.commit({T0: 7})
        assert await consumer.committed([T0]) == {T0: 7}
    assert len(calls) == 2


async def test_what_no_retry_helps_with_is_raised(kafka: EmbeddedBroker) -> None:
    kafka.control("OffsetCommit", lambda _: Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    async with member_of(kafka, enable_auto_commit=False) as consumer:
        with pytest.raises(GroupAuthorizationFailed, match="t-0"):
            await consumer.commit({T0: 7})


async def test_trying_ends_when_the_time_of_a_call_does(
    kafka: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = LoopTime(monkeypatch)
    calls: list[Call] = []

    def refuse(call: Call) -> Action:
        calls.append(call)
        return Fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    kafka.control("OffsetCommit", refuse)
    async with member_of(kafka, enable_auto_commit=False) as consumer:
        committing = asyncio.create_task(consumer.commit({T0: 7}))
        await until(lambda: len(calls) > 1)
        time.jump(60)
        with pytest.raises(RequestTimedOut, match=r"group g: .*COORDINATOR_LOAD_IN_PROGRESS"):
            await committing


async def test_without_a_group_nothing_can_be_committed(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka, group_id="") as consumer:
        with pytest.raises(InvalidGroupId, match="set group_id"):
            await consumer.commit({T0: 7})


async def test_offsets_of_an_open_transaction_are_waited_for(kafka: EmbeddedBroker) -> None:
    """Whoever reads what is committed would else read again what the transaction dealt with."""
    producer = Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, transactional_id="id"
    )
    fetches: list[Call] = []
    kafka.control("OffsetFetch", fetches.append)
    async with producer, member_of(kafka, isolation_level="read_committed") as consumer:
        await producer.begin_transaction()
        await producer.send("t", b"v", partition=0)
        await producer.send_offsets_to_transaction({T0: 9}, "g")
        fetching = asyncio.create_task(consumer.committed([T0]))
        await until(lambda: len(fetches) >= 3)
        await producer.commit_transaction()
        assert await fetching == {T0: 9}


async def test_one_can_go_back_to_what_is_committed(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with member_of(kafka, enable_auto_commit=False) as consumer:
        consumer.subscribe(["t"])
        assert await read(consumer, 4) == [0, 1, 2, 3]
        await consumer.commit()
        for _ in range(2):
            assert await read(consumer, 3) == [4, 5, 6]
            consumer.seek_to_committed()
        consumer.seek_to_committed(T0)
        assert await read(consumer, 3) == [4, 5, 6]
