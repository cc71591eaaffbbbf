"""Our own clients against Apache Kafka without ZooKeeper, in the consumer protocol too."""

import asyncio
from collections.abc import Iterator

import pytest

from conformance.apache.broker import ApacheBroker
from conformance.apache.kraft import kraft_broker
from conformance.apache.marks import needs_apache
from moldau import Admin, Consumer, Producer
from moldau.client.admin.topics import NewTopic
from moldau.model import TopicPartition

pytestmark = needs_apache("kafka-3.9")

SETTINGS = {
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.coordinator.append.linger.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
}


@pytest.fixture(scope="module")
def kraft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheBroker]:
    with kraft_broker(tmp_path_factory.mktemp("kraft") / "broker", SETTINGS) as broker:
        yield broker


def member(kraft: ApacheBroker, **settings: object) -> Consumer[bytes, bytes]:
    options = {
        "bootstrap.servers": kraft.bootstrap,
        "group.id": "new",
        "group.protocol": "consumer",
        "auto.offset.reset": "earliest",
        "retry.backoff.ms": 20,
    }
    mapping = {name.replace("_", "."): value for name, value in settings.items()}
    return Consumer({**options, **mapping})


async def settle(*members: Consumer[bytes, bytes], counts: list[int]) -> None:
    async with asyncio.timeout(60):
        while sorted(len(each.assignment()) for each in members) != sorted(counts):
            for each in members:
                await each.poll(0.05)


async def test_the_consumer_protocol(kraft: ApacheBroker) -> None:
    async with Admin(bootstrap_servers=kraft.bootstrap) as admin:
        (await admin.create_topics([NewTopic("t", 4, 1)])).check()
        async with Producer[bytes, bytes](bootstrap_servers=kraft.bootstrap) as producer:
            for number in range(20):
                await producer.send("t", b"%d" % number, partition=number % 4)
        seen: set[bytes | None] = set()
        async with member(kraft) as one, member(kraft) as two:
            one.subscribe(["t"])
            await settle(one, counts=[4])
            two.subscribe(["t"])
            async with asyncio.timeout(60):
                while len(seen) < 20 or len(two.assignment()) != 2:
                    for each in (one, two):
                        seen.update(record.value for record in await each.poll(0.05))
            described = (await admin.describe_groups("new"))["new"]
            assert (described.group_type, described.state) == ("consumer", "Stable")
            assert sorted(len(each.assignment) for each in described.members) == [2, 2]
            (listed,) = await admin.list_groups(types=["consumer"])
            assert listed.group_type.lower() == "consumer"
        async with asyncio.timeout(20):
            while (await admin.describe_groups("new"))["new"].members:
                continue
        offsets = (await admin.list_group_offsets("new"))["new"]
        assert sum(each.offset for each in offsets.values()) == 20


async def test_a_transaction_of_a_member(kraft: ApacheBroker) -> None:
    async with Admin(bootstrap_servers=kraft.bootstrap) as admin:
        (await admin.create_topics([NewTopic("from", 1, 1), NewTopic("to", 1, 1)])).check()
        options = {"bootstrap.servers": kraft.bootstrap, "transactional.id": "copier"}
        async with (
            Producer[bytes, bytes](options) as producer,
            member(kraft, group_id="copiers", enable_auto_commit=False) as consumer,
        ):
            consumer.subscribe(["from"])
            await settle(consumer, counts=[1])
            async with producer.transaction():
                await producer.send("to", b"v")
                at = {TopicPartition("from", 0): 1}
                await producer.send_offsets_to_transaction(at, consumer.group_metadata())
        partition = TopicPartition("from", 0)
        found = {}
        async with asyncio.timeout(20):
            while not found:  # the end of the transaction reaches the group a little later
                found = (await admin.list_group_offsets("copiers", require_stable=True))["copiers"]
        assert found[partition].offset == 1
