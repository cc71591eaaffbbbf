"""Records that go straight to their leader, and what is left to the sender."""

import signal
import threading

import pytest

from moldau.client.blocking import Producer
from moldau.client.blocking.direct import suits
from moldau.client.settings import ProducerSettings
from moldau.errors import ErrorCode, InvalidRecord
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Delay, Drop, Fail, Lose


def producer_of(kafka: EmbeddedBroker, **settings: object) -> Producer[bytes, bytes]:
    mapping = {name.replace("_", "."): value for name, value in settings.items()}
    options = {"retry.backoff.ms": 5, **mapping}
    return Producer({"bootstrap.servers": kafka.bootstrap_servers, **options})


def values(kafka: EmbeddedBroker) -> list[bytes | None]:
    return [record.value for record in kafka.records("t")[0]]


def settled_by(kafka: EmbeddedBroker, producer: Producer[bytes, bytes], count: int) -> set[str]:
    """Whether records are stored when the call returns, or found out elsewhere."""
    names: set[str] = set()
    direct = producer._direct
    assert direct is not None
    for number in range(count):
        record = producer.client.outgoing("t", None, b"%d" % number)
        receipt = direct.send("t", record)
        assert receipt is not None
        names.add("here" if receipt.done() else "elsewhere")
        receipt.result(10)
    return names


def test_records_are_stored_in_order_before_the_call_returns(kafka: EmbeddedBroker) -> None:
    with producer_of(kafka) as producer:
        for number in range(50):
            assert producer.send_and_wait("t", b"%d" % number).offset == number
            assert len(values(kafka)) == number + 1
        assert settled_by(kafka, producer, 5) == {"here"}


@pytest.mark.parametrize("action", [Drop(), Lose(), Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)])
def test_what_fails_is_tried_again_by_the_sender(kafka: EmbeddedBroker, action: Action) -> None:
    with producer_of(kafka) as producer:
        producer.send_and_wait("t", b"0")
        producer.send_and_wait("t", b"1")
        actions = [action]
        kafka.control("Produce", lambda _: actions.pop() if actions else None)
        for number in range(2, 6):
            assert producer.send_and_wait("t", b"%d" % number).offset == number
        assert not actions
    assert values(kafka) == [b"%d" % number for number in range(6)]


def test_an_error_for_good_is_raised_with_the_words_of_the_broker(kafka: EmbeddedBroker) -> None:
    with producer_of(kafka) as producer:
        producer.send_and_wait("t", b"0")
        producer.send_and_wait("t", b"1")
        kafka.control("Produce", lambda _: Fail(ErrorCode.INVALID_RECORD))
        with pytest.raises(InvalidRecord, match="t-0"):
            producer.send_and_wait("t", b"2")


def test_an_answer_that_does_not_come_is_not_waited_for(kafka: EmbeddedBroker) -> None:
    with producer_of(kafka, request_timeout_ms=100) as producer:
        producer.send_and_wait("t", b"0")
        producer.send_and_wait("t", b"1")
        actions = [Delay(0.5)]
        kafka.control("Produce", lambda _: actions.pop() if actions else None)
        assert producer.send_and_wait("t", b"2").offset == 2
    assert values(kafka) == [b"0", b"1", b"2"]


def test_threads_that_wait_do_not_disturb_each_other(kafka: EmbeddedBroker) -> None:
    count = 200

    def send(producer: Producer[bytes, bytes], thread: int) -> None:
        for number in range(count):
            producer.send_and_wait("t", b"%d" % number, key=b"%d" % thread)
            producer.send("t", b"-", key=b"-")

    with producer_of(kafka) as producer:
        threads = [threading.Thread(target=send, args=(producer, each)) for each in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        producer.flush()
    found: dict[bytes | None, list[bytes | None]] = {}
    for record in kafka.records("t")[0]:
        found.setdefault(record.key, []).append(record.value)
    assert len(found.pop(b"-")) == 3 * count
    expected = [b"%d" % number for number in range(count)]
    assert found == {b"%d" % each: expected for each in range(3)}


def test_a_flush_hears_of_records_that_went_directly(kafka: EmbeddedBroker) -> None:
    with producer_of(kafka) as producer:
        producer.send_and_wait("t", b"0")
        producer.send_and_wait("t", b"1")
        is_asked = threading.Event()

        def hold(_call: Call) -> Action:
            is_asked.set()
            return Delay(0.1)

        kafka.control("Produce", hold)
        sending = threading.Thread(target=producer.send_and_wait, args=("t", b"2"))
        sending.start()
        assert is_asked.wait(10)
        producer.flush(10)
        assert values(kafka) == [b"0", b"1", b"2"]
        sending.join()


def test_ctrl_c_interrupts_and_the_record_is_still_delivered(kafka: EmbeddedBroker) -> None:
    with producer_of(kafka) as producer:
        producer.send_and_wait("t", b"0")
        producer.send_and_wait("t", b"1")

        def interrupt(_call: Call) -> Action:
            release()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            return Delay(0.2)

        release = kafka.control("Produce", interrupt)
        with pytest.raises(KeyboardInterrupt):
            producer.send_and_wait("t", b"2")
        assert producer.send_and_wait("t", b"3").offset == 3
    assert values(kafka) == [b"0", b"1", b"2", b"3"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"linger_ms": 1}, False),
        ({"acks": 0, "enable_idempotence": False}, False),
        ({"transactional_id": "id"}, False),
        ({"security_protocol": "SSL"}, False),
    ],
)
def test_it_suits_those_who_wait_for_each_record(
    changes: dict[str, object], expected: bool
) -> None:
    make: type = ProducerSettings
    assert suits(make(bootstrap_servers="localhost:1", **changes)) is expected
