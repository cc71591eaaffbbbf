"""Groups of confluent-kafka (librdkafka) consumers in the consumer protocol (KIP-848)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, ConsumerGroupType
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.our_broker import OurBroker, our_broker
from conformance.test_consumer_groups_java import SETTINGS
from conformance.test_groups_confluent import (
    DEADLINE_S,
    owned,
    read,
    topic_with_records,
    until_shared,
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    with our_broker(tmp_path_factory.mktemp("broker"), SETTINGS) as running:
        yield running


@contextmanager
def consumers(broker: OurBroker, group: str) -> Iterator[Callable[..., Consumer]]:
    """Makes members of a group, and closes those that are left at the end."""
    made = []

    def make(topic: str = group, **settings: object) -> Consumer:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": group,
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
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


@pytest.mark.parametrize("assignor", ["range", "uniform"])
def test_members_come_and_go(broker: OurBroker, assignor: str) -> None:
    topic = f"come-and-go-{assignor}"
    topic_with_records(broker, topic)
    with consumers(broker, topic) as make:
        first = make(group_remote_assignor=assignor)
        until_shared(first)
        second, third = make(), make()
        until_shared(first, second, third)
        first.close()
        until_shared(second, third)
        third.close()
        until_shared(second)


def test_a_static_member_keeps_its_partitions_over_a_restart(broker: OurBroker) -> None:
    topic = "static"
    topic_with_records(broker, topic)
    with consumers(broker, topic) as make:
        one, other = make(group_instance_id="one"), make(group_instance_id="other")
        until_shared(one, other)
        before = owned(one), owned(other)
        one.close()
        again = make(group_instance_id="one")
        until_shared(again, other)
        assert (owned(again), owned(other)) == before


def test_reading_goes_on_where_it_was_committed_also_after_a_restart(
    broker: OurBroker,
) -> None:
    topic = "commits"
    topic_with_records(broker, topic, 40)
    with consumers(broker, topic) as make:
        first = make()
        seen = read(first, 20)
        first.commit(asynchronous=False)
        broker.kill()
        broker.start()
        until_shared(first)
        first.close()
        seen += read(make(), 20)
        assert sorted(map(int, seen)) == list(range(40))


def test_topics_are_found_by_a_pattern(broker: OurBroker) -> None:
    topic_with_records(broker, "found.first")
    with consumers(broker, "pattern") as make:
        member = make("^found\\..*")
        until_shared(member)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic("found.second", 1, 1)])["found.second"].result(DEADLINE_S)
        while {each.topic for each in member.assignment()} != {"found.first", "found.second"}:
            member.poll(0.1)


def test_the_group_is_described(broker: OurBroker) -> None:
    topic_with_records(broker, "described")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    with consumers(broker, "described") as make:
        member = make(client_id="somebody")
        until_shared(member)
        member.poll(0.5)
        group = admin.describe_consumer_groups(["described"])["described"].result(DEADLINE_S)
        assert group.state is ConsumerGroupState.STABLE
        assert group.type is ConsumerGroupType.CONSUMER
        (described,) = group.members
        assert described.client_id == "somebody"
        partitions = [each.partition for each in described.assignment.topic_partitions]
        assert sorted(partitions) == owned(member)
