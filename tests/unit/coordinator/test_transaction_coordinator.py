"""Requests about transactions: what they wait for, and what happens without being asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable

import pytest

from moldau.config.broker.transactions import TransactionConfig
from moldau.coordinator.marker_delivery import MarkerDelivery
from moldau.coordinator.shard import ShardPorts
from moldau.coordinator.shards import Shards
from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.coordinator.transaction.transactions import Initialisation, Transactions
from moldau.coordinator.transaction_coordinator import TransactionCoordinator, TransactionFilter
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.waiters import Waiters
from scenarios.group_script import ScriptClock
from scenarios.memory_journal import MemoryJournal
from unit.coordinator.test_marker_delivery import Brokers
from unit.coordinator.test_shards import turns
from unit.waiting import until

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
CONFIG = TransactionConfig(transactional_id_expiration_ms=1000)


class Setup:
    """A coordinator with one partition, which it leads, and a broker that gets its markers."""

    def __init__(self, journal: MemoryJournal | None = None) -> None:
        self.journal = journal or MemoryJournal()
        self.clock = ScriptClock()
        self.waiters = Waiters()
        self.brokers = Brokers({T0: 1, T1: 1})
        self.producer_ids = 0
        ports = ShardPorts(self.clock, self.waiters, commit_timeout_s=0.02)
        shards = Shards("state", lambda: Transactions(CONFIG), ports, partition_count=lambda: 1)
        self.coordinator = TransactionCoordinator(
            shards, CONFIG, ports, new_producer_id=self.next_producer_id
        )
        self.delivery = MarkerDelivery(self.brokers.send, self.brokers.leaders.get, retry_s=0)

    async def next_producer_id(self) -> int:
        self.producer_ids += 1
        await asyncio.sleep(0)
        return self.producer_ids

    async def initialise(self, key: str = "tx") -> ProducerIdentity:
        return await self.coordinator.initialise(key, Initialisation(1000))

    async def open(self, key: str = "tx", *partitions: TopicPartition) -> ProducerIdentity:
        producer = await self.initialise(key)
        await self.coordinator.add_partitions(key, producer, partitions or (T0,))
        return producer

    def state(self, key: str = "tx") -> str:
        return self.coordinator.describe(key).state.label

    def release(self) -> None:
        """What was slow is committed."""
        self.journal.is_slow = False
        self.journal.commit()
        self.waiters.wake(self.journal.name)


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    made = Setup()
    async for each in running(made):
        yield each


async def running(made: Setup) -> AsyncIterator[Setup]:
    task = asyncio.ensure_future(made.coordinator.run(made.delivery))
    made.coordinator.shards.lead(0, made.journal)
    await turns()
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def code_of(work: Awaitable[object]) -> ErrorCode:
    with pytest.raises(KafkaError) as raised:
        await work
    return raised.value.code


async def test_a_transaction_from_its_first_step_to_its_last(setup: Setup) -> None:
    producer = await setup.open("tx", T0, T1)
    assert producer == ProducerIdentity(1, 0)
    assert setup.state() == "Ongoing"
    await setup.coordinator.end("tx", producer, is_commit=True)
    assert setup.state() == "PrepareCommit", "the producer is answered before the partitions"
    await turns()
    assert setup.brokers.told == [(1, T0), (1, T1)]
    assert setup.state() == "CompleteCommit"


async def test_nobody_is_told_before_the_decision_is_committed(setup: Setup) -> None:
    producer = await setup.open()
    setup.journal.is_slow = True
    ending = asyncio.ensure_future(setup.coordinator.end("tx", producer, is_commit=True))
    await turns()
    assert not ending.done()
    assert not setup.brokers.told
    assert await code_of(setup.initialise()) is ErrorCode.CONCURRENT_TRANSACTIONS
    setup.release()
    await ending
    await turns()
    assert setup.brokers.told == [(1, T0)]


async def test_a_step_that_is_not_committed_in_time_is_uncertain(setup: Setup) -> None:
    producer = await setup.open()
    setup.journal.is_slow = True
    ending = setup.coordinator.end("tx", producer, is_commit=True)
    assert await code_of(ending) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    again = setup.coordinator.end("tx", producer, is_commit=True)
    assert await code_of(again) is ErrorCode.CONCURRENT_TRANSACTIONS
    setup.release()
    await until_state(setup, "CompleteCommit")
    await setup.coordinator.end("tx", producer, is_commit=True)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST),
    ],
)
async def test_what_producers_hear_when_nothing_can_be_stored(
    setup: Setup, failure: ErrorCode, told: ErrorCode
) -> None:
    setup.journal.failure = KafkaError(failure)
    assert await code_of(setup.initialise()) is told
    setup.journal.failure = None
    await setup.initialise()
    setup.journal.failure = KafkaError(failure)
    assert await code_of(setup.initialise()) is told


async def test_two_producers_that_come_at_once_do_not_both_get_a_first_epoch(
    setup: Setup,
) -> None:
    results = await asyncio.gather(setup.initialise(), setup.initialise(), return_exceptions=True)
    (given,) = [each for each in results if isinstance(each, ProducerIdentity)]
    (refused,) = [each for each in results if isinstance(each, KafkaError)]
    assert refused.code is ErrorCode.CONCURRENT_TRANSACTIONS
    assert await setup.initialise() == given._replace(epoch=1)


async def test_the_transaction_of_a_zombie_is_aborted_before_its_successor_begins(
    setup: Setup,
) -> None:
    zombie = await setup.open()
    assert await code_of(setup.initialise()) is ErrorCode.CONCURRENT_TRANSACTIONS
    await turns()
    (marker,) = setup.brokers.requests[0].markers
    assert (marker.producer_epoch, marker.transaction_result) == (1, False)
    assert await setup.initialise() == ProducerIdentity(1, 2)
    ending = setup.coordinator.end("tx", zombie, is_commit=True)
    assert await code_of(ending) is ErrorCode.PRODUCER_FENCED


async def test_an_overdue_transaction_is_aborted_and_completed(setup: Setup) -> None:
    await setup.open()
    setup.clock.time_ms += 1000
    setup.coordinator.shards.expire()
    await turns()
    assert setup.brokers.told == [(1, T0)]
    assert setup.state() == "CompleteAbort"


async def test_verification_waits_for_what_is_under_way(setup: Setup) -> None:
    producer = await setup.open()
    setup.journal.is_slow = True
    adding = asyncio.ensure_future(setup.coordinator.add_partitions("tx", producer, [T1]))
    await turns()
    verifying = asyncio.ensure_future(setup.coordinator.verify("tx", producer, [T1]))
    await turns()
    assert not verifying.done()
    setup.release()
    await adding
    assert await verifying == {T1: ErrorCode.NONE}
    unknown = setup.coordinator.verify("other", producer, [T1])
    assert await code_of(unknown) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


async def test_completion_is_stored_as_soon_as_the_journal_can(setup: Setup) -> None:
    producer = await setup.open()
    setup.brokers.failures = [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 3
    await setup.coordinator.end("tx", producer, is_commit=False)
    await turns()
    assert setup.state() == "CompleteAbort"
    assert len(setup.brokers.told) == 4


@pytest.mark.parametrize("is_commit", [True, False])
async def test_the_next_coordinator_completes_what_was_prepared(
    setup: Setup, is_commit: bool
) -> None:
    producer = await setup.open()
    setup.brokers.leaders[T0] = -1
    await setup.coordinator.end("tx", producer, is_commit=is_commit)
    await turns()
    setup.coordinator.shards.resign(0)
    describing = asyncio.ensure_future(setup.initialise())
    assert await code_of(describing) is ErrorCode.NOT_COORDINATOR
    successor = Setup(setup.journal)
    async for _ in running(successor):
        (marker,) = successor.brokers.requests[0].markers
        assert marker.transaction_result is is_commit
        assert successor.state() == ("CompleteCommit" if is_commit else "CompleteAbort")


async def test_old_ids_are_forgotten(setup: Setup) -> None:
    await setup.initialise("old")
    await setup.open("open")
    setup.clock.time_ms += 1000
    await setup.initialise("new")
    await setup.coordinator.forget_expired()
    found = [key for key, _ in setup.coordinator.matching(TransactionFilter())]
    assert found == ["open", "new"]
    setup.journal.failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    setup.clock.time_ms += 1000
    await setup.coordinator.forget_expired()
    assert len(list(setup.coordinator.matching(TransactionFilter()))) == 2


async def test_tools_find_transactions_by_what_they_are(setup: Setup) -> None:
    await setup.initialise("empty")
    producer = await setup.open("open")
    setup.clock.time_ms += 500

    def found(wanted: TransactionFilter) -> list[str]:
        return [key for key, _ in setup.coordinator.matching(wanted)]

    assert found(TransactionFilter()) == ["empty", "open"]
    assert found(TransactionFilter(states=[TransactionState.ONGOING])) == ["open"]
    assert found(TransactionFilter(states=[])) == []
    assert found(TransactionFilter(producer_ids=[producer.producer_id])) == ["open"]
    assert found(TransactionFilter(states=[TransactionState.ONGOING], longer_than_ms=499)) == [
        "open"
    ]
    assert found(TransactionFilter(states=[TransactionState.ONGOING], longer_than_ms=500)) == []
    with pytest.raises(KafkaError) as raised:
        setup.coordinator.describe("none")
    assert raised.value.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    with pytest.raises(KafkaError) as raised:
        setup.coordinator.describe("")
    assert raised.value.code is ErrorCode.INVALID_REQUEST


async def test_lists_are_refused_while_something_is_loading() -> None:
    made = Setup()
    made.coordinator.shards.lead(0, made.journal)
    with pytest.raises(KafkaError) as raised:
        list(made.coordinator.matching(TransactionFilter()))
    assert raised.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


async def test_a_completion_that_cannot_be_stored_is_tried_again(setup: Setup) -> None:
    producer = await setup.open()
    gate = setup.brokers.gate = asyncio.Event()
    await setup.coordinator.end("tx", producer, is_commit=True)
    await turns()
    setup.journal.failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    gate.set()
    await turns()
    assert setup.brokers.told == [(1, T0)]
    assert setup.state() == "PrepareCommit"
    setup.journal.failure = None
    await until_state(setup, "CompleteCommit")
    assert setup.brokers.told == [(1, T0)]


async def test_who_does_not_lead_any_more_completes_nothing(setup: Setup) -> None:
    producer = await setup.open()
    setup.journal.is_slow = True
    ending = setup.coordinator.end("tx", producer, is_commit=True)
    assert await code_of(ending) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    shard = setup.coordinator.shards.of("tx")
    setup.coordinator.shards.resign(0)
    setup.release()
    await setup.coordinator.complete(shard, "tx", setup.delivery)
    assert not setup.brokers.told


async def test_what_cannot_be_committed_cannot_be_verified(setup: Setup) -> None:
    producer = await setup.open()
    setup.journal.is_slow = True
    adding = setup.coordinator.add_partitions("tx", producer, [T1])
    assert await code_of(adding) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    verifying = setup.coordinator.verify("tx", producer, [T1])
    assert await code_of(verifying) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    setup.release()


async def until_state(setup: Setup, label: str) -> None:
    await until(lambda: setup.state() == label)
