"""Batches of one partition: their order, their numbers, their retries."""

import asyncio
import threading

import pytest

from moldau.client.producer.batches import UNKNOWN_OFFSET, Batch, PartitionBatches
from moldau.client.producer.encoding import seal
from moldau.errors import ErrorCode, KafkaError, NetworkException
from moldau.model import NO_SEQUENCE, NO_TIMESTAMP, TopicPartition
from moldau.records.batch import NO_PRODUCER, SEQUENCE_COUNT, Producer
from moldau.records.building import BatchForm, build
from moldau.records.rows import Rows

T0 = TopicPartition("t", 0)
IDENTITY = Producer(7, 0, NO_SEQUENCE)
LOST = KafkaError(ErrorCode.NETWORK_EXCEPTION)
OUT_OF_ORDER = KafkaError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


def batch(row_count: int = 10, deadline_ms: int = 1000) -> Batch:
    records = build.RecordBuffer(10_000)
    for row in range(row_count):
        records.append(100 + row, b"k", b"%d" % row, [("h", None)], 10_000)
    return Batch(T0, records, deadline_ms=deadline_ms)


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
    assert [each.order for each in batches] == [(1, 0), (2, 0), (3, 0)]
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


def test_a_batch_that_is_too_large_goes_in_parts_with_its_own_numbers(
    batches: PartitionBatches,
) -> None:
    batches.take(IDENTITY)
    second = batches.take(IDENTITY)
    batches.split(second)
    assert not batches.may_send()  # the first is still on its way
    batches.leave(next(iter(batches)))
    parts = []
    while batches.may_send():
        parts.append(batches.take(IDENTITY))
        batches.leave(parts[-1])
    assert [numbers(each) for each in parts] == [(0, 10), (0, 15), (0, 20)]
    assert [each.records.count for each in parts] == [5, 5, 10]


def test_receipts_follow_their_records_into_parts() -> None:
    whole, heard = batch(5), []
    for row in range(5):
        whole.receipt(row, 100 + row).add_done_callback(lambda each: heard.append(each.row))
    first, second = whole.split()
    inner = second.split()
    first.deliver(40, NO_TIMESTAMP)
    assert heard == [0, 1]
    inner[1].deliver(43, NO_TIMESTAMP)
    inner[0].fail(LOST)
    assert heard == [0, 1, 3, 4, 2]
    assert [whole.receipt(row, 100 + row).result().offset for row in (0, 1, 3, 4)] == [
        40,
        41,
        43,
        44,
    ]
    with pytest.raises(NetworkException):
        whole.receipt(2, 102).result()


def test_it_is_over_when_all_its_parts_are() -> None:
    whole = batch(5)
    whole.ready_ms = 60_000
    first, second = whole.split()
    inner = second.split()
    assert list(whole.leaves()) == [first, *inner]
    assert [each.ready_ms for each in whole.leaves()] == [0, 0, 0]
    for part in (first, inner[1]):
        part.deliver(0, NO_TIMESTAMP)
        assert not whole.is_over
    inner[0].fail(LOST)
    assert whole.is_over


def test_the_parts_hold_the_same_records() -> None:
    whole = batch(5)
    rows = [row for part in whole.split() for row in Rows(seal(part.records, BatchForm(10_000)))]
    assert [(row.timestamp, row.key, row.value) for row in rows] == [
        (100 + number, b"k", b"%d" % number) for number in range(5)
    ]
    assert all(row.headers == ((b"h", None),) for row in rows)


def test_every_record_is_told_its_place() -> None:
    delivered = batch(2)
    receipts = [delivered.receipt(row, 100 + row) for row in range(2)]
    assert not receipts[0].done()
    delivered.deliver(40, NO_TIMESTAMP)
    assert [receipt.result() for receipt in receipts] == [("t", 0, 40, 100), ("t", 0, 41, 101)]
    assert receipts[0].done()


def test_the_time_of_the_broker_wins_and_an_unknown_offset_stays_unknown() -> None:
    delivered = batch(2)
    delivered.deliver(UNKNOWN_OFFSET, 999)
    assert delivered.receipt(1, 101).result() == ("t", 0, UNKNOWN_OFFSET, 999)


def test_every_record_is_told_of_the_failure_each_with_an_error_of_its_own() -> None:
    failed = batch(2)
    failed.fail(LOST)
    errors = []
    for row in range(2):
        with pytest.raises(NetworkException) as caught:
            failed.receipt(row, 0).result()
        errors.append(caught.value)
    assert errors[0] is not errors[1]


def test_a_thread_waits_for_another() -> None:
    delivered = batch(1)
    receipt = delivered.receipt(0, 100)
    with pytest.raises(TimeoutError, match="not stored in 0"):
        receipt.result(0.001)
    threading.Timer(0.01, delivered.deliver, (7, NO_TIMESTAMP)).start()
    assert receipt.result(10).offset == 7


def test_whoever_settles_batches_cannot_wait_for_them() -> None:
    waiting = batch(1)
    waiting.thread_id = threading.get_ident()
    with pytest.raises(RuntimeError, match="use `await`"):
        waiting.receipt(0, 0).result()


async def test_receipts_are_awaited_here_and_from_another_thread() -> None:
    delivered = batch(2)
    waiting = asyncio.gather(*(delivered.receipt(row, 100) for row in range(2)))
    await asyncio.sleep(0)
    delivered.deliver(7, NO_TIMESTAMP)
    assert [place.offset for place in await waiting] == [7, 8]
    elsewhere = batch(1)
    threading.Timer(0.01, elsewhere.deliver, (9, NO_TIMESTAMP)).start()
    assert (await elsewhere.receipt(0, 100)).offset == 9


async def test_whoever_gives_up_is_not_told() -> None:
    delivered = batch(1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.001):
            await delivered.receipt(0, 100)
    delivered.deliver(7, NO_TIMESTAMP)
    assert (await delivered.receipt(0, 100)).offset == 7


def test_a_callback_that_fails_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    delivered, heard = batch(2), []
    delivered.receipt(0, 0).add_done_callback(lambda _: 1 // 0)
    delivered.receipt(1, 0).add_done_callback(lambda each: heard.append(each.result().offset))
    delivered.deliver(7, NO_TIMESTAMP)
    delivered.receipt(0, 0).add_done_callback(lambda each: heard.append(each.result().offset))
    assert heard == [8, 7]
    assert "a callback for t-0 failed" in caplog.text


def test_numbers_begin_anew_with_the_next_epoch(batches: PartitionBatches) -> None:
    batches.leave(batches.take(IDENTITY))
    assert numbers(batches.take(IDENTITY._replace(epoch=1))) == (1, 0)
    assert numbers(batches.take(IDENTITY._replace(epoch=1))) == (1, 10)


def test_what_has_no_number_can_be_abandoned(batches: PartitionBatches) -> None:
    first = batches.take(IDENTITY)
    batches.retry(first, LOST, ready_ms=0)
    assert len(batches.abandon()) == 2
    assert list(batches) == [first]


def test_the_oldest_is_the_one_with_nothing_before_it(batches: PartitionBatches) -> None:
    first, second = batches.take(IDENTITY), batches.take(IDENTITY)
    assert batches.is_oldest(first)
    assert not batches.is_oldest(second)
    batches.leave(first)
    assert batches.is_oldest(second)


def test_nothing_overtakes_a_batch_that_must_be_sent_again(batches: PartitionBatches) -> None:
    first, second = batches.take(IDENTITY), batches.take(IDENTITY)
    assert not batches.is_overtaking(second)
    batches.retry(first, LOST, ready_ms=0)
    assert batches.is_overtaking(second)
