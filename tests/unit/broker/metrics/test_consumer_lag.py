"""How far groups have read, where a broker can know it."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, TopicPartition

from moldau.broker.broker import Broker
from moldau.broker.metrics import consumer_lag
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.wire import WireClient
from unit.broker.exposition import Family, families
from unit.testing.requests import batch, metadata, produce

LAG = "kafka_consumergroup_lag"
OFFSET = "kafka_consumergroup_current_offset"
END = "kafka_topic_partition_current_offset"
OMITTED = "moldau_consumergroup_omitted_offsets"
READERS = '{consumergroup="readers",topic="orders",partition="0"}'


def page(broker: Broker) -> dict[str, Family]:
    return families(broker.metrics.text())


def commit(servers: str, group: str, offsets: dict[tuple[str, int], int]) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    partitions = [TopicPartition(*place, offset) for place, offset in offsets.items()]
    consumer.commit(offsets=partitions, asynchronous=False)
    consumer.close()


def fill(kafka: EmbeddedBroker, *values: bytes) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        client.ask(produce("orders", batch(*values)))


def test_lag_is_what_is_left_to_read(kafka: EmbeddedBroker) -> None:
    fill(kafka, b"a", b"b", b"c")
    commit(kafka.bootstrap_servers, "readers", {("orders", 0): 1})
    found = kafka.look(page)
    assert found[OFFSET].samples == {f"{OFFSET}{READERS}": 1}
    assert found[LAG].samples == {f"{LAG}{READERS}": 2}
    assert found[END].samples[f'{END}{{topic="orders",partition="0"}}'] == 3
    assert found[OMITTED].samples == {OMITTED: 0}
    members = "kafka_consumergroup_members"
    assert found[members].samples == {f'{members}{{consumergroup="readers"}}': 0}


def test_members_are_counted(kafka: EmbeddedBroker) -> None:
    fill(kafka, b"a")
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "readers"})
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(0.01)
    samples = kafka.look(page)["kafka_consumergroup_members"].samples
    consumer.close()
    assert list(samples.values()) == [1]


def test_a_group_with_an_odd_name_is_written_safely(kafka: EmbeddedBroker) -> None:
    fill(kafka, b"a")
    commit(kafka.bootstrap_servers, 'a"b\\c\nd', {("orders", 0): 1})
    (series,) = kafka.look(page)[LAG].samples
    assert 'consumergroup="a\\"b\\\\c\\nd"' in series


def test_what_is_too_much_for_one_page_is_left_out_and_counted(
    kafka: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(kafka, b"a")
    monkeypatch.setattr(consumer_lag, "SHOWN_MAX", 2)
    for group in ("a", "b", "c"):
        commit(kafka.bootstrap_servers, group, {("orders", 0): 1})
    found = kafka.look(page)
    assert len(found[OFFSET].samples) == len(found[LAG].samples) == 2
    assert len(found["kafka_consumergroup_members"].samples) == 2
    assert found[OMITTED].samples == {OMITTED: 1}


def test_groups_that_come_while_the_page_is_made_do_no_harm(kafka: EmbeddedBroker) -> None:
    fill(kafka, b"a")
    commit(kafka.bootstrap_servers, "first", {("orders", 0): 1})
    lines: Iterator[str] = kafka.look(lambda broker: broker.metrics.lines())
    seen = ""
    while OFFSET not in (line := kafka.look(lambda _: next(lines))):
        seen += line
    seen += line
    commit(kafka.bootstrap_servers, "second", {("orders", 0): 1})
    seen += kafka.look(lambda _: "".join(lines))
    assert [one for one in families(seen)[OFFSET].samples if "first" in one]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with running_cluster(3, {"offsets.topic.num.partitions": "1"}) as cluster:
        cluster.create_topic("orders", partitions=3)
        yield cluster


def test_a_broker_tells_no_lag_of_what_another_leads(cluster: RunningCluster) -> None:
    commit(cluster.bootstrap_servers, "readers", {("orders", number): 0 for number in range(3)})
    pages = cluster.look(lambda all_of: {one.broker.id: page(one.broker) for one in all_of})
    ((coordinator, found),) = [each for each in pages.items() if each[1][OFFSET].samples]
    assert len(found[OFFSET].samples) == 3
    led = [number for number in range(3) if cluster.leader("orders", number) == coordinator]
    assert len(led) == 1
    labels = f'{{consumergroup="readers",topic="orders",partition="{led[0]}"}}'
    assert found[LAG].samples == {LAG + labels: 0}
    ends = [name for one in pages.values() for name in one[END].samples if '"orders"' in name]
    assert sorted(ends) == [f'{END}{{topic="orders",partition="{number}"}}' for number in range(3)]
