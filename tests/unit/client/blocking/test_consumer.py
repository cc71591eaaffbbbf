"""The consumer without `await`."""

import inspect
import re
import signal
import threading
from itertools import islice

import pytest

from moldau.client.blocking import Consumer, Producer
from moldau.client.consumer import consumer
from moldau.errors import NetworkException
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call

T0 = TopicPartition("t", 0)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "100"}


def consumer_of(kafka: EmbeddedBroker, **settings: object) -> Consumer[bytes, bytes]:
    quick = {"auto.offset.reset": "earliest", "fetch.max.wait.ms": 20, "group.id": "g"}
    return Consumer({"bootstrap.servers": kafka.bootstrap_servers, **quick, **settings})


@pytest.fixture
def written(kafka: EmbeddedBroker) -> EmbeddedBroker:
    """A broker with ten records."""
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(10):
            producer.send("t", b"%d" % number, timestamp_ms=1000 + number)
    return kafka


def test_a_group_is_read_and_committed(written: EmbeddedBroker) -> None:
    heard: list[TopicPartition] = []
    with consumer_of(written) as reader:

        def assigned(partitions: list[TopicPartition]) -> None:
            heard.extend(partitions)
            assert reader.committed(partitions) == {}

        reader.subscribe(["t"], on_assigned=assigned)
        assert [record.value for record in islice(reader, 4)] == [b"0", b"1", b"2", b"3"]
        reader.commit()
        assert reader.committed([T0]) == {T0: 4}
        reader.unsubscribe()
    assert heard == [T0]
    reader.close()


def test_given_partitions_are_read_back_and_forth(written: EmbeddedBroker) -> None:
    with consumer_of(written) as reader:
        reader.assign(reader.partitions_of("t"))
        assert reader.assignment() == [T0]
        assert next(reader).offset == 0
        reader.seek(T0, 7)
        assert next(reader).offset == 7
        assert reader.position(T0) == 8
        reader.seek_to_beginning()
        assert reader.poll(10)[0].offset == 0
        reader.seek_to_end(T0)
        assert reader.position(T0) == 10
        assert reader.lag(T0) == 0
        reader.pause(T0)
        assert reader.paused() == [T0]
        reader.resume(T0)
        assert reader.beginning_offsets([T0]) == {T0: 0}
        assert reader.end_offsets([T0]) == {T0: 10}
        assert reader.offsets_for_times({T0: 1004}) == {T0: (4, 1004)}


def test_waiting_for_records_can_be_interrupted(kafka: EmbeddedBroker) -> None:
    with consumer_of(kafka) as reader:
        reader.assign([("t", 0)])
        threading.Timer(0.05, press_ctrl_c).start()
        with pytest.raises(KeyboardInterrupt):
            reader.poll(60)
        assert reader.poll(0.01) == []


def test_heartbeats_go_on_while_the_caller_blocks(written: EmbeddedBroker) -> None:
    beats: list[Call] = []
    enough = threading.Event()

    def count(call: Call) -> None:
        beats.append(call)
        if len(beats) >= 10:
            enough.set()

    written.control("Heartbeat", count)
    with consumer_of(written, **{"heartbeat.interval.ms": 20, "session.timeout.ms": 200}) as reader:
        reader.subscribe(["t"])
        next(reader)
        assert enough.wait(10)
        reader.commit()


def test_it_has_the_names_of_the_other_form() -> None:
    def names(form: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(form) if not name.startswith("_")}

    assert names(consumer.Consumer) - names(Consumer) == {"start"}


def test_nobody_there_is_an_error_that_says_what_was_tried() -> None:
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1"):
        Consumer(bootstrap_servers="127.0.0.1:1", default_api_timeout_ms=1)


def press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_a_pattern_a_time_and_commits_in_the_background(kafka: EmbeddedBroker) -> None:
    partition = TopicPartition("orders-1", 0)
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(5):
            producer.send("orders-1", b"%d" % number, timestamp_ms=1000 + number).result(10)
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, group_id="g", enable_auto_commit=False
    ) as reader:
        reader.subscribe(re.compile("^orders-"))
        while not reader.assignment():
            reader.poll(0.1)
        reader.seek_to_time(1003)
        assert [record.value for record in reader.poll(10)] == [b"3", b"4"]
        reader.commit_soon()
        while reader.committed([partition]) != {partition: 5}:
            continue
        assert reader.group_metadata().generation >= 1
