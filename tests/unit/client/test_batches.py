"""Batches of one partition: their order, their numbers, their retries."""

import pytest

from moldau.client.batches import UNKNOWN_OFFSET, Batch, PartitionBatches
from moldau.client.record import RecordMetadata
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_SEQUENCE, NO_TIMESTAMP, TopicPartition
from moldau.records.batch import NO_PRODUCER, SEQUENCE_COUNT, Producer

T0 = TopicPartition("t", 0)
IDENTITY = Producer(7, 0, NO_SEQUENCE)
LOST = KafkaError(ErrorCode.NETWORK_EXCEPTION)
OUT_OF_ORDER = KafkaError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


class Receipt:
    """Keeps what became of a record."""

    def __init__(self) -> None:
        self.outcome: RecordMetadata | BaseException | None = None

    def done(self) -> bool:
        return self.outcome is not None

    def set_result(self, result: RecordMetadata) -> None:
        self.outcome = result

    def set_exception(self, exception: BaseException) -> None:
        self.outcome = exception


def batch(row_count: int = 10, deadline_ms: int = 1000) -> Batch:
    made = Batch(T0, deadline_ms=deadline_ms, ready_ms=0)
    for row in range(row_count):
        made.rows.timestamps.append(100 + row)
        made.rows.keys.append(None)
        made.rows.values.append(b"v")
        made.receipts.append(None)
    return made


@pytest.fixture
def batches() -> PartitionBatches:
    """Three batches of ten records, none of them sent."""
    made = PartitionBatches(T0)
    for _ in range(3):
        made.append(batch())
    return made


def numbers(sent: Batch) -> tuple[int, int]:
    return sent.producer.epoch, sent.producer.base_sequence


def test_batches_are_numbered_as_they_are_sent(batches: PartitionBatches) -> None:
    assert [numbers(batches.take(IDENTITY)) for _ in range(3)] == [(0, 0), (0, 10), (0, 20)]
    assert not batches.may_send()


def test_sequences_begin_again_after_the_largest() -> None:
    batches = PartitionBatches(T0)
    batches._next_sequence = SEQUENCE_COUNT - 5
    batches.append(batch())
    batches.append(batch())
    assert numbers(batches.take(IDENTITY)) == (0, SEQUENCE_COUNT - 5)
    assert numbers(batches.take(IDENTITY)) == (0, 5)


def test_without_idempotence_nothing_is_numbered(batches: PartitionBatches) -> None:
    assert batches.take(None).producer == NO_PRODUCER


def test_only_the_last_batch_takes_records_and_only_before_it_is_sent(
    batches: PartitionBatches,
) -> None:
    last = list(batches)[-1]
    assert batches.open_batch is last
    assert batches.has_full_batch
    for _ in range(3):
        batches.take(IDENTITY)
    assert batches.open_batch is None


def test_a_retry_takes_no_more_records(batches: PartitionBatches) -> None:
    for sent in [batches.take(IDENTITY) for _ in range(3)]:
        batches.retry(sent, LOST, ready_ms=0)
    assert batches.open_batch is None


def test_a_retry_keeps_its_number_and_its_place(batches: PartitionBatches) -> None:
    first, second = batches.take(IDENTITY), batches.take(IDENTITY)
    batches.retry(second, LOST, ready_ms=5)
    batches.retry(first, LOST, ready_ms=5)
    assert [each.order for each in batches] == [1, 2, 3]
    assert batches.take(IDENTITY) is first
    assert numbers(first) == (0, 0)
    assert first.attempts == 2


def test_nothing_overtakes_a_retry(batches: PartitionBatches) -> None:
    first, second = batches.take(IDENTITY), batches.take(IDENTITY)
    batches.retry(first, LOST, ready_ms=0)
    assert not batches.may_send()  # the second is still on its way
    batches.retry(second, OUT_OF_ORDER, ready_ms=0)
    assert batches.may_send()
    assert batches.take(IDENTITY) is first
    assert not batches.may_send()
    batches.leave(first)
    assert batches.take(IDENTITY) is second
    assert numbers(second) == (0, 10)


def test_a_number_that_is_wrong_for_good_begins_a_new_epoch(batches: PartitionBatches) -> None:
    first, second = batches.take(IDENTITY), batches.take(IDENTITY)
    batches.leave(first)  # it failed: the broker does not have it
    batches.retry(second, OUT_OF_ORDER, ready_ms=0)
    assert batches.take(IDENTITY) is second
    assert numbers(second) == (1, 0)
    assert numbers(batches.take(IDENTITY)) == (1, 10)


def test_a_new_epoch_waits_for_what_is_on_its_way(batches: PartitionBatches) -> None:
    first, second, third = (batches.take(IDENTITY) for _ in range(3))
    batches.leave(first)
    batches.retry(second, OUT_OF_ORDER, ready_ms=0)
    assert not batches.may_send()
    batches.retry(third, OUT_OF_ORDER, ready_ms=0)
    assert [numbers(batches.take(IDENTITY)) for _ in range(2)] == [(1, 0), (1, 10)]


def test_what_waits_too_long_is_taken_out(batches: PartitionBatches) -> None:
    late = batch(deadline_ms=500)
    batches.append(late)
    assert batches.expire(now_ms=499) == []
    assert batches.expire(now_ms=500) == [late]
    assert late not in list(batches)


def test_what_is_on_its_way_does_not_expire(batches: PartitionBatches) -> None:
    batches.take(IDENTITY)
    assert len(batches.expire(now_ms=2000)) == 2
    assert batches


def test_every_record_is_told_its_place() -> None:
    delivered = batch(2)
    receipts = [Receipt(), Receipt()]
    delivered.receipts = list(receipts)
    delivered.deliver(40, NO_TIMESTAMP)
    places = [("t", 0, 40, 100), ("t", 0, 41, 101)]
    assert [receipt.outcome for receipt in receipts] == places
    assert delivered.is_settled


def test_the_time_of_the_broker_wins_and_an_unknown_offset_stays_unknown() -> None:
    delivered, receipt = batch(2), Receipt()
    delivered.receipts = [receipt, None]
    delivered.deliver(UNKNOWN_OFFSET, 999)
    assert receipt.outcome == ("t", 0, UNKNOWN_OFFSET, 999)


def test_every_record_is_told_of_the_failure_unless_it_gave_up() -> None:
    failed, given_up, waiting = batch(3), Receipt(), Receipt()
    given_up.set_exception(TimeoutError())
    failed.receipts = [None, given_up, waiting]
    failed.fail(LOST)
    assert isinstance(given_up.outcome, TimeoutError)
    assert isinstance(waiting.outcome, KafkaError)
    assert failed.is_settled
