"""Our own clients against Apache Kafka without ZooKeeper, in the consumer protocol too."""

import asyncio
from collections.abc import Iterator

import pytest

from conformance import own_client_features
from conformance.apache.broker import ApacheBroker
from conformance.apache.kraft import kraft_broker
from conformance.apache.marks import needs_apache
from moldau import Admin, Consumer, Producer
from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.admin.topics import NewTopic
from moldau.client.admin.users import ScramPassword
from moldau.client.offset_lookup import LATEST
from moldau.model import TopicPartition

pytestmark = needs_apache("kafka-3.9", "kafka-4")

SETTINGS = {
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.coordinator.append.linger.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.fixture(scope="module", params=["kafka-3.9", "kafka-4"])
def kraft(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApacheBroker]:
    directory = tmp_path_factory.mktemp("kraft") / "broker"
    with kraft_broker(directory, SETTINGS, jars=request.param) as broker:
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


async def settle(*members: Consumer[bytes, bytes], counts: list[int]) -> set[bytes | None]:
    """Poll until so many partitions are assigned to them; the values they read meanwhile."""
    seen: set[bytes | None] = set()
    async with asyncio.timeout(60):
        while sorted(len(each.assignment()) for each in members) != sorted(counts):
            for each in members:
                seen.update(record.value for record in await each.poll(0.05))
    return seen


async def committed(admin: Admin) -> int:
    """The sum of a group's offsets."""
    offsets = (await admin.list_group_offsets("new"))["new"]
    return sum(each.offset for each in offsets.values())


async def test_the_consumer_protocol(kraft: ApacheBroker) -> None:
    async with Admin(bootstrap_servers=kraft.bootstrap) as admin:
        (await admin.create_topics([NewTopic("t", 4, 1)])).check()
        async with Producer[bytes, bytes](bootstrap_servers=kraft.bootstrap) as producer:
            for number in range(20):
                await producer.send("t", b"%d" % number, partition=number % 4)
        async with member(kraft) as one, member(kraft) as two:
            one.subscribe(["t"])
            seen = await settle(one, counts=[4])
            two.subscribe(["t"])
            async with asyncio.timeout(60):
                while len(seen) < 20 or len(two.assignment()) != 2:
                    for each in (one, two):
                        seen.update(record.value for record in await each.poll(0.05))
            described = (await admin.describe_groups("new"))["new"]
            assert (described.group_type, described.state) == ("consumer", "Stable")
            assert sorted(len(each.assignment) for each in described.members) == [2, 2]
            async with asyncio.timeout(60):  # one may have read what is the other's by now
                while await committed(admin) < 20:
                    for each in (one, two):
                        await each.poll(0.05)
                        await each.commit()
            (listed,) = await admin.list_groups(types=["consumer"])
            assert listed.group_type.lower() == "consumer"
        async with asyncio.timeout(20):
            while (await admin.describe_groups("new"))["new"].members:
                continue
        assert await committed(admin) == 20


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
        found: dict[TopicPartition, CommittedOffset] = {}
        async with asyncio.timeout(20):
            while not found:  # the end of the transaction reaches the group a little later
                found = (await admin.list_group_offsets("copiers", require_stable=True))["copiers"]
        assert found[partition].offset == 1


async def test_topics_classic_groups_and_users(kraft: ApacheBroker) -> None:
    async with Admin(bootstrap_servers=kraft.bootstrap) as admin:
        (await admin.create_topics([NewTopic("classic", 2, 1)])).check()
        password = ScramPassword("anna", "sesam")
        (await admin.alter_user_scram_credentials([password])).check()
        while "anna" not in await admin.describe_user_scram_credentials():
            continue
        topic = ConfigResource.topic("classic")
        (await admin.incremental_alter_configs({topic: {"retention.ms": "123456"}})).check()
        levels = (await admin.describe_features()).finalized
        assert "metadata.version" in levels
        settings = {"group_id": "old", "group_protocol": "classic"}
        strategy = {"partition_assignment_strategy": "cooperative-sticky"}
        quick = {"heartbeat_interval_ms": 100}
        async with (
            member(kraft, **settings, **strategy, **quick) as one,
            member(kraft, **settings, **strategy, **quick) as two,
        ):
            one.subscribe(["classic"])
            await settle(one, counts=[2])
            two.subscribe(["classic"])
            await settle(one, two, counts=[1, 1])
            described = (await admin.describe_groups("old"))["old"]
            assert (described.group_type, described.state) == ("classic", "Stable")
        partition = TopicPartition("classic", 0)
        (await admin.delete_records({partition: 0})).check()
        assert (await admin.list_offsets({partition: LATEST}))[partition].offset == 0
        (await admin.delete_topics("classic")).check()


async def test_every_codec_as_rows_and_as_columns(kraft: ApacheBroker) -> None:
    await asyncio.to_thread(own_client_features.rows_and_columns, kraft.bootstrap)


async def test_rules_quotas_moves_and_static_members(kraft: ApacheBroker) -> None:
    async with Admin(bootstrap_servers=kraft.bootstrap) as admin:
        await own_client_features.access_rules(admin)
        await own_client_features.quotas(admin)
        await own_client_features.moves_and_elections(admin)
        (await admin.create_topics([NewTopic("kept", 1, 1)])).check()
        async with Producer[bytes, bytes](bootstrap_servers=kraft.bootstrap) as producer:
            await producer.send_and_wait("kept", b"v")
        await own_client_features.directories(admin, TopicPartition("kept", 0))
    for protocol in ("classic", "consumer"):
        await own_client_features.static_member(kraft.bootstrap, "kept", protocol)
