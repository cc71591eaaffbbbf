"""Lag is of one moment, never negative, and at least what is known."""

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.console.lag import GroupLag, PartitionLag, read_lag
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker


def test_lag_is_never_less_than_none() -> None:
    assert PartitionLag(10, 0, 7).lag == 0
    assert PartitionLag(5, 0, 7).lag == 2
    assert PartitionLag(2, 5, 7).lag == 2, "what was deleted cannot be read any more"
    assert PartitionLag(5, None, None).lag is None


def test_a_total_without_all_partitions_is_marked() -> None:
    one, two = TopicPartition("a", 0), TopicPartition("a", 1)
    lag = GroupLag({one: PartitionLag(1, 0, 3), two: PartitionLag(1, None, None)})
    assert (lag.total, lag.is_partial) == (2, True)
    assert not GroupLag({one: PartitionLag(1, 0, 3)}).is_partial


async def test_it_is_read_for_several_groups(broker: EmbeddedBroker) -> None:
    servers = broker.bootstrap_servers
    async with Admin(bootstrap_servers=servers) as admin:
        (await admin.create_topics([NewTopic("lag", partitions=2)])).check()
        async with Producer(bootstrap_servers=servers) as producer:
            for partition in (0, 0, 0, 1):
                await producer.send_and_wait("lag", b"x", partition=partition)
        await admin.alter_group_offsets("one", {TopicPartition("lag", 0): 1})
        await admin.alter_group_offsets("two", {TopicPartition("lag", each): 0 for each in (0, 1)})
        found = await read_lag(admin, ["one", "two", "none"])
    assert {name: lag.total for name, lag in found.items()} == {"one": 2, "two": 4, "none": 0}
