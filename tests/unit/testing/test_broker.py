"""A real broker inside the test process, in a thread of its own."""

from pathlib import Path

import pytest

from moldau.client.blocking import Producer
from moldau.testing.broker import BrokerNotStarted, EmbeddedBroker, running_broker
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, metadata, produce


def fill(kafka: EmbeddedBroker, topic: str, *values: bytes) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata(topic))
        client.ask(produce(topic, batch(*values)))


def test_what_was_produced_can_be_waited_for(kafka: EmbeddedBroker) -> None:
    fill(kafka, "orders", b"a", b"b")
    found = kafka.wait_for_records("orders", 2)
    assert [record.value for record in found[0]] == [b"a", b"b"]
    assert kafka.records("orders") == found


def test_records_that_never_come_are_not_waited_for_in_vain(kafka: EmbeddedBroker) -> None:
    reason = r"^1 records of topic orders were wanted, 0 are there: there are no topics at all"
    with pytest.raises(TimeoutError, match=reason):
        kafka.wait_for_records("orders", 1, timeout_s=0.01)
    fill(kafka, "orders", b"a", b"b")
    reason = r"wanted, 2 are there: partition 0 has 2 records in offsets \[0, 2\) \(after 0.01 s\)$"
    with pytest.raises(TimeoutError, match=reason):
        kafka.wait_for_records("orders", 3, timeout_s=0.01)


def test_the_ends_of_transactions_are_no_records(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    with Producer(bootstrap_servers=servers, transactional_id="till") as producer:
        with producer.transaction():
            producer.send("orders", b"a")
        with pytest.raises(TimeoutError, match="2 records of topic orders were wanted, 1 are"):
            kafka.wait_for_records("orders", 2, timeout_s=0.01)
        with producer.transaction():
            producer.send("orders", b"b")
        assert [each.value for each in kafka.wait_for_records("orders", 2)[0]] == [b"a", b"b"]


def test_a_topic_can_be_waited_for(kafka: EmbeddedBroker) -> None:
    fill(kafka, "orders", b"a")
    kafka.wait_for_topic("orders")
    reason = "topic order has no leaders: there is no such topic, only orders; did you mean orders"
    with pytest.raises(TimeoutError, match=reason):
        kafka.wait_for_topic("order", timeout_s=0.01)
    with pytest.raises(TimeoutError, match="the condition did not hold"):
        kafka.wait_for(lambda _: False, timeout_s=0.01)


def test_a_restart_keeps_the_data_and_the_address(kafka: EmbeddedBroker) -> None:
    fill(kafka, "orders", b"a")
    address = kafka.bootstrap_servers
    kafka.restart()
    assert kafka.bootstrap_servers == address
    kafka.wait_for_topic("orders")
    fill(kafka, "orders", b"b")
    assert [record.value for record in kafka.records("orders")[0]] == [b"a", b"b"]


def test_two_brokers_share_nothing() -> None:
    with running_broker() as one, running_broker() as other:
        fill(one, "orders", b"a")
        assert other.records("orders") == {}


def test_settings_have_kafkas_names() -> None:
    with running_broker({"num.partitions": "3"}) as kafka:
        fill(kafka, "orders", b"a")
        assert list(kafka.records("orders")) == [0, 1, 2]


def test_its_directory_goes_with_it_unless_it_was_given(tmp_path: Path) -> None:
    with running_broker() as kafka:
        own = kafka.directory
        assert own.exists()
    assert not own.exists()
    with running_broker(directory=tmp_path) as kafka:
        fill(kafka, "orders", b"a")
    with running_broker(directory=tmp_path) as kafka:
        assert [record.value for record in kafka.records("orders")[0]] == [b"a"]


def test_a_broker_that_cannot_start_says_why() -> None:
    wrong = running_broker({"num.partitions": "many"})
    with pytest.raises(BrokerNotStarted, match=r"num\.partitions"):
        wrong.__enter__()
