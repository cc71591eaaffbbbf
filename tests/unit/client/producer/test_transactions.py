"""Transactions of a producer, with coordinators that move, hesitate and refuse."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.client.producer.transactions import GroupMetadata
from moldau.errors import (
    ErrorCode,
    GroupAuthorizationFailed,
    InvalidTxnState,
    ProducerFenced,
    RequestTimedOut,
    TopicAuthorizationFailed,
    TransactionAbortable,
    UnknownMemberId,
    UnsupportedVersion,
)
from moldau.model import TopicPartition
from moldau.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from moldau.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Drop, Fail, Lose, Respond
from unit.client.topics import create_topic

T0 = TopicPartition("t", 0)


def producer_of(kafka: EmbeddedBroker, **settings: object) -> Producer[bytes, bytes]:
    mapping = {name.replace("_", "."): value for name, value in settings.items()}
    options = {"transactional.id": "id", "retry.backoff.ms": 5, **mapping}
    return Producer({"bootstrap.servers": kafka.bootstrap_servers, **options})


@pytest.fixture
async def producer(kafka: EmbeddedBroker) -> AsyncIterator[Producer[bytes, bytes]]:
    async with producer_of(kafka) as producer:
        yield producer


def once(action: Action) -> Callable[[Call], Action]:
    """The action for the first request only."""
    actions = [action]
    return lambda _: actions.pop() if actions else None


async def committed(kafka: EmbeddedBroker, count: int) -> list[bytes | None]:
    """What readers of committed records see, and that no more than `count` comes."""
    options = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "fetch.max.wait.ms": 20,
    }
    values: list[bytes | None] = []
    async with Consumer[bytes, bytes](options) as consumer, asyncio.timeout(10):
        consumer.assign([T0])
        end = (await consumer.end_offsets([T0]))[T0]
        while await consumer.position(T0) < end:
            values += [record.value for record in await consumer.poll(1)]
    assert len(values) == count
    return values


async def test_records_become_visible_together(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    async with producer.transaction():
        for number in range(3):
            await producer.send("t", b"%d" % number)
        await producer.flush()
        assert await committed(kafka, 0) == []
    assert await committed(kafka, 3) == [b"0", b"1", b"2"]


async def test_an_exception_takes_all_back(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    receipts = []

    async def fail() -> None:
        async with producer.transaction():
            await producer.send_and_wait("t", b"stored")
            receipts.append(await producer.send("t", b"waiting"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    with pytest.raises(TransactionAbortable, match="aborted before this was sent"):
        await receipts[0]
    async with producer.transaction():
        await producer.send("t", b"next")
    assert await committed(kafka, 1) == [b"next"]


async def test_records_are_sent_within_transactions_only(
    producer: Producer[bytes, bytes],
) -> None:
    with pytest.raises(InvalidTxnState, match="begin one first"):
        await producer.send("t", b"v")
    async with producer.transaction():
        await producer.send_and_wait("t", b"v")
    with pytest.raises(InvalidTxnState, match="begin one first"):
        await producer.send("t", b"v")


async def test_a_producer_without_an_id_has_no_transactions(kafka: EmbeddedBroker) -> None:
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        with pytest.raises(RuntimeError, match="transactional_id"):
            await producer.begin_transaction()


@pytest.mark.parametrize("api", ["InitProducerId", "AddPartitionsToTxn", "EndTxn"])
@pytest.mark.parametrize(
    "action",
    [
        Fail(ErrorCode.NOT_COORDINATOR),
        Fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        Fail(ErrorCode.CONCURRENT_TRANSACTIONS),
        Drop(),
        Lose(),
    ],
)
async def test_a_coordinator_that_hesitates_is_asked_again(
    kafka: EmbeddedBroker, api: str, action: Action
) -> None:
    kafka.control(api, once(action))
    async with producer_of(kafka) as producer, producer.transaction():
        await producer.send("t", b"v")
    assert await committed(kafka, 1) == [b"v"]


async def test_offsets_are_committed_with_the_records(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    moved = Fail(ErrorCode.NOT_COORDINATOR)
    for api in ("AddOffsetsToTxn", "TxnOffsetCommit"):
        kafka.control(api, once(moved))
    async with producer.transaction():
        await producer.send("t", b"v")
        await producer.send_offsets_to_transaction({T0: 1}, "g")
        await producer.send_offsets_to_transaction({T0: 2}, "g")
        await producer.send_offsets_to_transaction({}, "h")
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        found = await admin.list_group_offsets(["g", "h"], require_stable=True)
    assert found["g"] == {T0: CommittedOffset(2)}
    assert found["h"] == {}


async def test_a_member_that_was_replaced_cannot_commit(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    create_topic(kafka, "t")
    with pytest.raises(UnknownMemberId):
        async with producer.transaction():
            await producer.send_offsets_to_transaction({T0: 1}, GroupMetadata("g", 7, "gone"))
    async with producer.transaction():
        await producer.send("t", b"v")


async def test_old_brokers_are_not_told_of_members(
    kafka: EmbeddedBroker,
) -> None:
    create_topic(kafka, "t")
    versions = [
        ApiVersion(api_key=key, min_version=0, max_version=2) for key in (0, 3, 10, 22, 25, 26, 28)
    ]
    versions += [ApiVersion(api_key=0, min_version=0, max_version=3)]
    answer = ApiVersionsResponse(error_code=0, api_keys=versions)
    kafka.control("ApiVersions", lambda _: Respond(answer))
    asked: list[TxnOffsetCommitRequest] = []
    kafka.control("TxnOffsetCommit", lambda call: asked.append(call.request))
    async with producer_of(kafka) as producer, producer.transaction():
        await producer.send_offsets_to_transaction({T0: 1}, GroupMetadata("g", 7, "gone"))
    assert asked[0].member_id == ""


async def test_a_second_producer_ends_the_first(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka) as first:
        await first.begin_transaction()
        await first.send_and_wait("t", b"first")
        async with producer_of(kafka) as second, second.transaction():
            await second.send("t", b"second")
        with pytest.raises(ProducerFenced, match=r"another producer with this transactional\.id"):
            await commit_and_look(first)
    assert await committed(kafka, 1) == [b"second"]


async def test_a_partition_that_may_not_be_written_spoils_the_transaction(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    kafka.control("AddPartitionsToTxn", once(Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED)))
    with pytest.raises(TopicAuthorizationFailed, match="must be aborted"):
        async with producer.transaction():
            receipt = await producer.send("t", b"v")
    with pytest.raises(TopicAuthorizationFailed):
        await receipt
    async with producer.transaction():
        await producer.send("t", b"next")
    assert await committed(kafka, 1) == [b"next"]


@pytest.mark.parametrize("code", [ErrorCode.INVALID_RECORD, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER])
async def test_after_a_lost_batch_numbers_begin_anew(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes], code: ErrorCode
) -> None:
    async with producer.transaction():
        await producer.send_and_wait("t", b"1")
    kafka.control("Produce", once(Fail(code)))
    with pytest.raises(Exception, match="must be aborted"):
        async with producer.transaction():
            await producer.send("t", b"2")
    async with producer.transaction():
        await producer.send_and_wait("t", b"3")
    assert await committed(kafka, 2) == [b"1", b"3"]


async def test_a_retry_overtaken_by_its_successor_comes_first(
    kafka: EmbeddedBroker,
) -> None:
    async with producer_of(kafka, batch_size=100) as producer:
        async with producer.transaction():
            await producer.send_and_wait("t", b"0")
            kafka.control("Produce", once(Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)))
            for number in range(1, 40):
                await producer.send("t", b"%d" % number)
        assert await committed(kafka, 40) == [b"%d" % number for number in range(40)]


async def test_an_old_broker_cannot_begin_anew(
    kafka: EmbeddedBroker,
) -> None:
    original = {0: 3, 3: 2, 10: 2, 22: 2, 24: 1, 25: 1, 26: 1, 28: 1}
    versions = [
        ApiVersion(api_key=key, min_version=0, max_version=newest)
        for key, newest in original.items()
    ]
    answer = ApiVersionsResponse(error_code=0, api_keys=versions)
    kafka.control("ApiVersions", lambda _: Respond(answer))
    kafka.control("Produce", once(Fail(ErrorCode.INVALID_RECORD)))
    async with producer_of(kafka) as producer:
        with pytest.raises(UnsupportedVersion):
            async with producer.transaction():
                await producer.send("t", b"v")
        with pytest.raises(UnsupportedVersion, match="make a new producer"):
            await producer.begin_transaction()


async def test_a_group_that_may_not_be_written_spoils_the_transaction(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    kafka.control("AddOffsetsToTxn", lambda _: Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(GroupAuthorizationFailed):
        async with producer.transaction():
            await producer.send_offsets_to_transaction({T0: 1}, "g")


async def test_a_commit_that_took_too_long_can_be_repeated(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka, max_block_ms=100) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("t", b"v")
        stop = kafka.control("EndTxn", lambda _: Fail(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        with pytest.raises(RequestTimedOut, match="COORDINATOR_NOT_AVAILABLE"):
            await producer.commit_transaction()
        stop()
        await producer.commit_transaction()
    assert await committed(kafka, 1) == [b"v"]


async def test_closing_aborts_what_is_open(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("t", b"v")
    assert await committed(kafka, 0) == []


async def test_who_cannot_have_the_id_does_not_start(kafka: EmbeddedBroker) -> None:
    kafka.control("InitProducerId", lambda _: Fail(ErrorCode.INVALID_TRANSACTION_TIMEOUT))
    producer = producer_of(kafka)
    with pytest.raises(Exception, match="INVALID_TRANSACTION_TIMEOUT"):
        await producer.start()
    with pytest.raises(RuntimeError, match="closed"):
        await producer.send("t", b"v")


async def test_an_empty_transaction_costs_nothing(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    kafka.control("EndTxn", lambda _: Fail(ErrorCode.UNKNOWN_SERVER_ERROR))
    async with producer.transaction():
        pass


async def test_a_cancelled_task_takes_its_transaction_back(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    has_sent = asyncio.Event()

    async def work() -> None:
        async with producer.transaction():
            await producer.send_and_wait("t", b"v")
            has_sent.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await has_sent.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with producer.transaction():
        await producer.send("t", b"next")
    assert await committed(kafka, 1) == [b"next"]


async def commit_and_look(producer: Producer[bytes, bytes]) -> None:
    """The refusal, and then what the producer says of itself."""
    with pytest.raises(ProducerFenced):
        await producer.commit_transaction()
    await producer.begin_transaction()
