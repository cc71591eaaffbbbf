"""What is in a topic, read from the logs of a broker in this process."""

from moldau.broker.broker import Broker
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.contents import record_count, records_of
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
    assert kafka.look(lambda broker: record_count(broker, "orders")) == 2
    records = kafka.look(lambda broker: records_of(broker, "orders"))
    assert [record.value for record in records[0]] == [b"b", b"c"]


def test_an_unknown_topic_has_no_records(kafka: EmbeddedBroker) -> None:
    assert kafka.look(lambda broker: record_count(broker, "orders")) == 0
    assert kafka.records("orders") == {}
