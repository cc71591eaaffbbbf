"""Topics that a consumer is given when it is made."""

import pytest

from moldau import Consumer
from moldau.client import blocking
from moldau.client.consumer.first_topics import split
from moldau.client.producer.producer import Producer
from moldau.errors import UnknownTopicOrPartition
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0", "num.partitions": "2"}


@pytest.fixture
async def servers(kafka: EmbeddedBroker) -> str:
    """A broker with a record in each of two topics."""
    async with Producer(bootstrap_servers=kafka.bootstrap_servers) as producer:
        await producer.send_and_wait("orders", b"one", partition=1)
        await producer.send_and_wait("payments", b"two", partition=0)
    return kafka.bootstrap_servers


async def read_two(consumer: Consumer[bytes, bytes]) -> list[bytes]:
    return sorted([(await anext(consumer)).value or b"" for _ in range(2)])


async def test_with_a_group_they_are_subscribed(servers: str) -> None:
    async with Consumer(
        "orders", "payments", bootstrap_servers=servers, group_id="g", auto_offset_reset="earliest"
    ) as consumer:
        assert await read_two(consumer) == [b"one", b"two"]
        await consumer.commit()
        assert len(await consumer.committed([TopicPartition("orders", 1)])) == 1


async def test_without_a_group_all_partitions_are_read(servers: str) -> None:
    async with Consumer(
        "orders", "payments", bootstrap_servers=servers, auto_offset_reset="earliest"
    ) as consumer:
        assert len(consumer.assignment()) == 4
        assert await read_two(consumer) == [b"one", b"two"]


async def test_they_may_follow_a_mapping_of_settings(servers: str) -> None:
    settings = {"bootstrap.servers": servers}
    async with Consumer(settings, "orders") as consumer:
        assert [each.topic for each in consumer.assignment()] == ["orders", "orders"]


@pytest.mark.parametrize("group", ["", "g"])
def test_the_blocking_form_takes_them_too(servers: str, group: str) -> None:
    with blocking.Consumer(
        "orders", bootstrap_servers=servers, group_id=group, auto_offset_reset="earliest"
    ) as consumer:
        assert next(consumer).value == b"one"


async def test_one_that_is_not_there_is_an_error_unless_it_may_be_created(servers: str) -> None:
    consumer = Consumer("typo", bootstrap_servers=servers, allow_auto_create_topics=False)
    with pytest.raises(UnknownTopicOrPartition, match="typo"):
        await consumer.start()
    with pytest.raises(RuntimeError, match="closed"):
        await consumer.poll()


def test_a_list_is_an_error_that_says_how_it_is_done() -> None:
    with pytest.raises(TypeError, match=r"one by one, as in Consumer\('a', 'b', …\)"):
        Consumer(["a", "b"], bootstrap_servers="localhost:9092")  # type: ignore[arg-type]


def test_topics_and_settings_are_told_apart() -> None:
    assert split(None, ()) == (None, ())
    assert split("a", ("b",)) == (None, ("a", "b"))
    assert split({"group.id": "g"}, ("b",)) == ({"group.id": "g"}, ("b",))
