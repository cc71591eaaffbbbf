"""What dashboards are shown of groups, offsets and transactions."""

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from moldau.testing.broker import EmbeddedBroker
from moldau.testing.wire import WireClient
from unit.testing.requests import metadata

DEADLINE_S = 30
MANAGER = "kafka_coordinator_group_groupmetadatamanager_num"
EVENTS = "kafka_server_group_coordinator_metrics_"


def values(kafka: EmbeddedBroker) -> dict[str, float]:
    text = kafka.look(lambda broker: broker.metrics.text())
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def make_topic(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))


def test_groups_and_their_offsets_are_counted(kafka: EmbeddedBroker) -> None:
    make_topic(kafka)
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "readers"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(0.01)
    for offset in (3, 5):
        consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)
    found = values(kafka)
    assert found[f"{MANAGER}groups"] == found[f"{MANAGER}groupsstable"] == 1
    assert found[f"{MANAGER}groupsempty"] == found[f"{MANAGER}groupspreparingrebalance"] == 0
    assert found[f"{MANAGER}offsets"] == 1
    assert found[f"{EVENTS}offset_commit_count"] == 2
    assert found[f"{EVENTS}group_completed_rebalance_count"] == 1
    assert found[f"{EVENTS}partition_load_time_max"] >= 0
    consumer.close()
    assert values(kafka)[f"{MANAGER}groupsempty"] == 1
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    admin.delete_consumer_groups(["readers"])["readers"].result(DEADLINE_S)
    found = values(kafka)
    assert found[f"{MANAGER}groups"] == found[f"{MANAGER}offsets"] == 0
    assert found[f"{EVENTS}offset_deletion_count"] == 1


def test_transactions_are_counted_by_state(kafka: EmbeddedBroker) -> None:
    make_topic(kafka)
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "writer"}
    producer = Producer(settings)
    producer.init_transactions(DEADLINE_S)
    assert values(kafka)['moldau_transactions{state="Empty"}'] == 1
    producer.begin_transaction()
    producer.produce("orders", b"a")
    producer.flush(DEADLINE_S)
    assert values(kafka)['moldau_transactions{state="Ongoing"}'] == 1
    producer.commit_transaction(DEADLINE_S)
    kafka.wait_for(
        lambda broker: 'moldau_transactions{state="CompleteCommit"} 1' in broker.metrics.text()
    )
