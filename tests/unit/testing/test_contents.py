"""What is in a topic, read from the logs of a broker in this process."""

from moldau.broker.broker import Broker
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Admin, Producer
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.contents import bounds_of, describe, records_of
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, metadata, produce


def test_only_what_was_not_deleted_is_read(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        for value in (b"a", b"b", b"c"):
            client.ask(produce("orders", batch(value)))

    def delete_first(broker: Broker) -> bool:
        (log,) = [log for log in broker.logs if log.partition.topic == "orders"]
        return log.raise_log_start(1)

    assert kafka.look(delete_first)
    assert kafka.look(lambda broker: bounds_of(broker, "orders")) == [(1, 3)]
    records = kafka.look(lambda broker: records_of(broker, "orders"))
    assert [record.value for record in records[0]] == [b"b", b"c"]


def test_an_unknown_topic_has_no_records(kafka: EmbeddedBroker) -> None:
    assert kafka.look(lambda broker: bounds_of(broker, "orders")) == []
    assert kafka.records("orders") == {}


def described(kafka: EmbeddedBroker, topic: str) -> str:
    return kafka.look(lambda broker: describe(broker, topic))


def test_a_description_says_which_topics_there_are(kafka: EmbeddedBroker) -> None:
    assert described(kafka, "order") == "there are no topics at all"
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders", partitions=2), "payments"]).check()
        there = "there is no such topic, only orders, payments"
        assert described(kafka, "order") == f"{there}; did you mean orders?"
        assert described(kafka, "clicks") == there
        admin.create_topics([f"t{number:02}" for number in range(10)]).check()
        assert described(kafka, "clicks").endswith("t06, t07, ...")
    parts = "partition 0 is empty, at offset 0; partition 1 is empty, at offset 0"
    assert described(kafka, "orders") == parts


def test_a_description_names_transactions(kafka: EmbeddedBroker) -> None:
    with Producer(bootstrap_servers=kafka.bootstrap_servers, transactional_id="till") as producer:
        producer.begin_transaction()
        producer.send("orders", b"a").result()
        held = "partition 0 has 1 records in offsets [0, 1)"
        assert described(kafka, "orders") == (
            f"{held}, from 0 on with a transaction that is still open"
        )
        producer.abort_transaction()
        kafka.wait_for(lambda broker: bounds_of(broker, "orders") == [(0, 2)])
        aborted = "those in [0, 2) of an aborted transaction"
        assert described(kafka, "orders") == (
            f"partition 0 has 1 records in offsets [0, 2), {aborted}"
        )


def test_a_description_names_what_is_not_committed(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        client.ask(produce("orders", batch(b"a", b"b")))

    def forget(broker: Broker) -> str:
        (log,) = [log for log in broker.logs if log.partition.topic == "orders"]
        log.high_watermark = 0
        return describe(broker, "orders")

    told = "partition 0 has 0 records in offsets [0, 0), and some up to 2 that are not committed"
    assert kafka.look(forget) == told
