"""The producer without `await`."""

import os
import signal
import threading

import pytest

from moldau.client.blocking import Consumer, Producer
from moldau.client.producer import batches
from moldau.client.producer.intake import Receipt
from moldau.errors import ErrorCode, InvalidRecord, NetworkException
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Delay, Fail
from unit.client.locks import held_elsewhere


def test_records_are_stored_and_futures_know_where(kafka: EmbeddedBroker) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        futures = [producer.send("t", b"%d" % number) for number in range(100)]
        assert [future.result(10).offset for future in futures] == list(range(100))
        assert producer.send_and_wait("t", b"v", key=b"k").offset == 100
        assert producer.partitions_of("t") == [0]


def test_flush_and_close_lose_nothing(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    with Producer[bytes, bytes](bootstrap_servers=servers, linger_ms=60_000) as producer:
        producer.send("t", b"1")
        producer.flush()
        assert len(kafka.records("t")[0]) == 1
        producer.send("t", b"2", headers=[("h", b"x")], timestamp_ms=5, partition=0)
    assert [record.value for record in kafka.records("t")[0]] == [b"1", b"2"]
    producer.close()


def test_a_failure_comes_out_of_the_future(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Fail(ErrorCode.INVALID_RECORD))
    with (
        Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer,
        pytest.raises(InvalidRecord),
    ):
        producer.send("t", b"v").result(10)


def test_memory_stays_bounded_with_a_slow_broker(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Delay(0.005))
    with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, buffer_memory=20_000, batch_size=4000
    ) as producer:
        accumulator = producer.client._accumulator
        for number in range(2000):
            producer.send("t", b"%d" % number + b"v" * 100, partition=0)
            assert accumulator.used_bytes <= 20_000
            assert sum(batch.records.size for batch in accumulator) <= 40_000
    assert len(kafka.records("t")[0]) == 2000


def test_threads_may_share_a_producer(kafka: EmbeddedBroker) -> None:
    count = 3000

    def send(producer: Producer[bytes, bytes], thread: int) -> None:
        for number in range(count):
            producer.send("t", b"%d" % number, key=b"%d" % thread, partition=0)

    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        threads = [threading.Thread(target=send, args=(producer, each)) for each in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    by_thread: dict[bytes | None, list[bytes | None]] = {}
    for record in kafka.records("t")[0]:
        by_thread.setdefault(record.key, []).append(record.value)
    assert by_thread == {
        b"%d" % each: [b"%d" % number for number in range(count)] for each in range(3)
    }


def test_serializers_and_partitioners_are_called_once_for_each_record(
    kafka: EmbeddedBroker,
) -> None:
    calls: list[object] = []

    def serialize(value: object) -> bytes:
        calls.append(value)
        return str(value).encode()

    with Producer[int, int](
        bootstrap_servers=kafka.bootstrap_servers,
        key_serializer=serialize,
        value_serializer=serialize,
        partitioner=lambda topic, key, partitions: partitions[-1],
    ) as producer:
        for number in range(100):
            producer.send("t", number, key=-number)
    assert calls == [each for number in range(100) for each in (-number, number)]
    assert [record.value for record in kafka.records("t")[0]] == [b"%d" % n for n in range(100)]


def test_a_callback_is_told_once_by_the_producer_or_at_once(kafka: EmbeddedBroker) -> None:
    heard: list[tuple[str, int]] = []

    def hear(receipt: Receipt) -> None:
        heard.append((threading.current_thread().name, receipt.result().offset))

    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for _ in range(3):
            producer.send("t", b"v").add_done_callback(hear)
    assert sorted(offset for _, offset in heard) == [0, 1, 2]
    # Whoever adds one to a receipt that is there already is told by oneself.
    assert {name for name, _ in heard} <= {"moldau-producer", threading.current_thread().name}


def test_after_closing_nothing_is_taken(kafka: EmbeddedBroker) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        producer.send("t", b"v")
    with pytest.raises(RuntimeError, match="closed"):
        producer.send("t", b"v")


def test_nobody_there_is_an_error_that_says_what_was_tried() -> None:
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1"):
        Producer(bootstrap_servers="127.0.0.1:1", max_block_ms=1)


def test_transactions_are_committed_or_aborted_as_a_whole(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    with Producer[bytes, bytes](bootstrap_servers=servers, transactional_id="id") as producer:
        with producer.transaction():
            producer.send("t", b"1")
            producer.send_offsets_to_transaction({TopicPartition("t", 0): 1}, "g")
        with pytest.raises(ZeroDivisionError):
            send_and_fail(producer, b"2")
        producer.begin_transaction()
        producer.send("t", b"3").result(10)
        producer.abort_transaction()
    with Consumer[bytes, bytes](
        bootstrap_servers=servers, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([("t", 0)])
        assert [record.value for record in consumer.poll(10)] == [b"1"]


def send_and_fail(producer: Producer[bytes, bytes], value: bytes) -> None:
    with producer.transaction():
        producer.send("t", value)
        raise ZeroDivisionError


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no such thing as a fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_is_told_to_make_its_own_and_can(kafka: EmbeddedBroker) -> None:
    """Even if threads of its parent had locks when it was made."""
    servers = kafka.bootstrap_servers
    with Producer[bytes, bytes](bootstrap_servers=servers, linger_ms=60_000) as producer:
        producer.send("t", b"parent's")
        with held_elsewhere(producer.client._accumulator._lock, batches._settling):
            child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                producer.send("t", b"lost")
            except RuntimeError as error:
                if "make one in each process" not in str(error):
                    os._exit(1)
                with Producer[bytes, bytes](bootstrap_servers=servers) as own:
                    own.send("t", b"child's").result(30)
                os._exit(0)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
    assert {each.value for each in kafka.records("t")[0]} == {b"parent's", b"child's"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no such thing as a fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork_a_receipt_says_that_it_cannot_be_waited_for(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    with Producer[bytes, bytes](bootstrap_servers=servers, linger_ms=60_000) as producer:
        receipt = producer.send("t", b"v")
        child = os.fork()
        if child == 0:
            try:
                receipt.result(10)
            except RuntimeError as error:
                os._exit(0 if "after a fork" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        producer.flush()
        assert receipt.result().offset == 0
