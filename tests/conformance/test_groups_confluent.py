"""Groups of confluent-kafka (librdkafka) consumers against our broker."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.our_broker import OurBroker, our_broker

DEADLINE_S = 30
PARTITIONS = 4

Group = list[Consumer]


def topic_with_records(broker: OurBroker, name: str, count: int = 40) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(DEADLINE_S)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(count):
        producer.produce(name, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(DEADLINE_S) == 0


@contextmanager
def consumers(
    broker: OurBroker, topic: str, **settings: object
) -> Iterator[Callable[..., Consumer]]:
    """Makes members of the topic's group, and closes those that are left at the end."""
    made: Group = []

    def make(**more: object) -> Consumer:
        named = {name.replace("_", "."): value for name, value in {**settings, **more}.items()}
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": f"group-of-{topic}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 200,
                **named,
            }
        )
        consumer.subscribe([topic])
        made.append(consumer)
        return consumer

    try:
        yield make
    finally:
        for consumer in made:
            consumer.close()


def owned(consumer: Consumer) -> list[int]:
    return sorted(each.partition for each in consumer.assignment())


def until_shared(*members: Consumer) -> None:
    """Poll until every partition has one owner, and every member owns some."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        for member in members:
            member.poll(0.05)
        shares = [owned(member) for member in members]
        if sorted(chain(*shares)) == list(range(PARTITIONS)) and all(shares):
            return
    raise AssertionError(f"not shared: {[owned(member) for member in members]}")


def read(consumer: Consumer, count: int) -> list[bytes]:
    values: list[bytes] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(values) < count and time.monotonic() < deadline:
        for message in consumer.consume(count - len(values), 1.0):
            assert message.error() is None
            values.append(message.value() or b"")
    return values


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def test_members_come_and_go(broker: OurBroker, strategy: str) -> None:
    topic = f"come-and-go-{strategy}"
    topic_with_records(broker, topic)
    with consumers(broker, topic, partition_assignment_strategy=strategy) as make:
        first = make()
        until_shared(first)
        second, third = make(), make()
        until_shared(first, second, third)
        first.close()
        until_shared(second, third)
        third.close()
        until_shared(second)


def test_a_member_that_died_is_replaced_when_its_session_ends(broker: OurBroker) -> None:
    topic = "died"
    topic_with_records(broker, topic)
    with consumers(broker, topic) as make:
        alive = make()
        silent = make(max_poll_interval_ms=6000)
        until_shared(alive, silent)
        until_shared(alive)  # the other one is not polled any more


def test_a_static_member_keeps_its_partitions_over_a_restart(broker: OurBroker) -> None:
    topic = "static"
    topic_with_records(broker, topic)
    with consumers(broker, topic, session_timeout_ms=30_000) as make:
        one, other = make(group_instance_id="one"), make(group_instance_id="other")
        until_shared(one, other)
        before = owned(one), owned(other)
        one.close()
        again = make(group_instance_id="one")
        until_shared(again, other)
        assert (owned(again), owned(other)) == before


def test_reading_goes_on_where_it_was_committed(broker: OurBroker) -> None:
    topic = "commits"
    topic_with_records(broker, topic, 40)
    with consumers(broker, topic) as make:
        first = make()
        seen = read(first, 20)
        first.commit(asynchronous=False)
        first.close()
        seen += read(make(), 20)
        assert sorted(map(int, seen)) == list(range(40))


def test_offsets_survive_a_killed_broker(tmp_path: Path) -> None:
    with our_broker(tmp_path) as broker:
        topic_with_records(broker, "t", 40)
        with consumers(broker, "t") as make:
            reader = make()
            read(reader, 40)
            reader.commit(asynchronous=False)
            before = [each.offset for each in reader.committed(partitions("t"), DEADLINE_S)]
        broker.kill()
        broker.start()
        with consumers(broker, "t") as make:
            reader = make()
            after = [each.offset for each in reader.committed(partitions("t"), DEADLINE_S)]
        assert before == after == [10] * PARTITIONS


def test_tools_see_describe_and_delete_groups(broker: OurBroker) -> None:
    topic = "tools"
    topic_with_records(broker, topic)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    name = f"group-of-{topic}"
    with consumers(broker, topic) as make:
        reader = make()
        until_shared(reader)
        reader.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
        group = admin.describe_consumer_groups([name])[name].result(DEADLINE_S)
        assert group.state == ConsumerGroupState.STABLE
        assert len(group.members[0].assignment.topic_partitions) == PARTITIONS
        listed = admin.list_consumer_groups().result(DEADLINE_S)
        assert name in [each.group_id for each in listed.valid]
        assert not listed.errors
    admin.delete_consumer_groups([name])[name].result(DEADLINE_S)
    listed = admin.list_consumer_groups().result(DEADLINE_S)
    assert name not in [each.group_id for each in listed.valid]


def partitions(topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for number in range(PARTITIONS)]
