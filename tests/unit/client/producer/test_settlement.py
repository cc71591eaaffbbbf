"""What becomes of batches, by what brokers say of them."""

import logging

import pytest

from moldau.client.connection.cluster import Cluster
from moldau.client.producer.accumulator import Accumulator, OutgoingRecord
from moldau.client.producer.batches import Batch
from moldau.client.producer.settlement import SETTLED, Settlement
from moldau.client.settings import ProducerSettings, read_settings
from moldau.errors import ErrorCode, KafkaError, RequestTimedOut
from moldau.model import TopicPartition
from moldau.protocol.messages.produce import PartitionProduceResponse
from moldau.runtime.waiters import Waiters

PARTITION = TopicPartition("t", 0)
NETWORK = KafkaError(ErrorCode.NETWORK_EXCEPTION, "gone")


class Desk:
    """A settlement with one batch of three records on its way."""

    def __init__(self, **options: object) -> None:
        settings = read_settings(ProducerSettings, {"bootstrap.servers": "localhost:1"}, options)
        self.accumulator = Accumulator(settings)
        self.cluster = Cluster(settings)
        self.waiters = Waiters()
        self.woken = 0
        self.settlement = Settlement(
            self.cluster, self.accumulator, self.waiters, None, wake=self.wake
        )
        now_ms = self.cluster.clock.monotonic_ms()
        for number in range(3):
            record = OutgoingRecord(timestamp_ms=number, key=None, value=b"v")
            self.accumulator.begin(PARTITION, record, partition_count=1, now_ms=now_ms)
        self.batch: Batch = self.accumulator.take(self.accumulator[PARTITION], None)

    def wake(self) -> None:
        self.woken += 1

    def answer(self, code: ErrorCode, **fields: int) -> None:
        given = PartitionProduceResponse(index=0, error_code=code, base_offset=7)
        for name, value in fields.items():
            setattr(given, name, value)
        self.settlement.answer(self.batch, given)


@pytest.fixture
async def desk() -> Desk:
    return Desk()


async def test_what_is_stored_is_gone_and_those_who_wait_hear_of_it(desk: Desk) -> None:
    watch = desk.waiters.watch()
    watch.add(SETTLED)
    desk.answer(ErrorCode.NONE, log_append_time_ms=5)
    assert (desk.batch.base_offset, desk.batch.append_time_ms) == (7, 5)
    assert list(desk.accumulator) == []
    assert desk.accumulator.used_bytes == 0
    assert watch.take() == [SETTLED]


async def test_what_was_stored_before_is_stored(desk: Desk) -> None:
    desk.answer(ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
    assert desk.batch.is_settled
    assert desk.batch.error is None


async def test_what_may_go_well_next_time_is_tried_again(desk: Desk) -> None:
    desk.answer(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert desk.accumulator[PARTITION].oldest_waiting is desk.batch
    assert desk.batch.ready_ms > 0
    assert desk.woken == 1


async def test_what_is_too_large_is_sent_in_parts(desk: Desk) -> None:
    desk.answer(ErrorCode.MESSAGE_TOO_LARGE)
    assert [batch.records.count for batch in desk.accumulator] == [1, 2]
    assert desk.woken == 1


async def test_what_cannot_be_stored_is_lost_with_a_reason(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        desk.answer(ErrorCode.INVALID_RECORD)
    assert "Failed to send 3 records: t-0: INVALID_RECORD" in caplog.text
    assert desk.batch.error is not None
    assert list(desk.accumulator) == []


async def test_a_batch_is_not_tried_more_often_than_allowed() -> None:
    desk = Desk(retries=0, enable_idempotence=False)
    desk.settlement.fail(desk.batch, NETWORK)
    assert desk.batch.error is NETWORK


async def test_after_its_time_a_batch_is_lost_whatever_the_error(desk: Desk) -> None:
    desk.batch.deadline_ms = 0
    desk.settlement.fail(desk.batch, NETWORK)
    assert isinstance(desk.batch.error, RequestTimedOut)
    assert "not delivered in 120000 ms: gone" in str(desk.batch.error)


async def test_what_waits_too_long_is_given_up(desk: Desk) -> None:
    desk.settlement.fail(desk.batch, NETWORK)
    desk.settlement.expire()
    assert not desk.batch.is_settled
    desk.batch.deadline_ms = 0
    desk.settlement.expire()
    assert isinstance(desk.batch.error, RequestTimedOut)


async def test_all_that_waits_can_be_lost_at_once(desk: Desk) -> None:
    desk.settlement.fail(desk.batch, NETWORK)
    desk.settlement.lose_waiting(KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "no"))
    assert str(desk.batch.error) == "no"
