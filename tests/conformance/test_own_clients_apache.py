"""Our Admin client, groups and transactions, against Apache Kafka."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from conformance.apache.broker import ApacheBroker, apache_broker
from conformance.apache.marks import needs_apache
from moldau import Admin, Consumer, Producer
from moldau.client.admin.configs import ConfigResource, ConfigSource
from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.admin.offsets import MAX_TIMESTAMP
from moldau.client.admin.quotas import USER, QuotaEntity
from moldau.client.admin.topics import NewTopic
from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.errors import (
    ElectionNotNeeded,
    GroupIdNotFound,
    InvalidReplicationFactor,
    NonEmptyGroup,
    NoReassignmentInProgress,
    ProducerFenced,
    SecurityDisabled,
    TopicAlreadyExists,
    TransactionalIdNotFound,
    UnknownTopicOrPartition,
)
from moldau.model import TopicPartition

pytestmark = needs_apache("kafka-3.9")


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheBroker]:
    settings = {"auto.create.topics.enable": "true", "group.min.session.timeout.ms": "500"}
    with apache_broker(tmp_path_factory.mktemp("apache"), settings) as broker:
        broker.start()
        yield broker


@pytest.fixture
async def admin(apache: ApacheBroker) -> AsyncIterator[Admin]:
    async with Admin(bootstrap_servers=apache.bootstrap) as admin:
        yield admin


async def test_topics_and_their_settings(admin: Admin) -> None:
    created = await admin.create_topics(
        [NewTopic("topics", 2, 1, configs={"retention.ms": "5000"}), NewTopic("many", 1, 9)]
    )
    assert created["topics"].configs["retention.ms"] == "5000"
    with pytest.raises(InvalidReplicationFactor):
        created["many"]
    with pytest.raises(TopicAlreadyExists):
        (await admin.create_topics(["topics"])).check()
    (await admin.create_partitions({"topics": 3})).check()
    described = (await admin.describe_topics("topics"))["topics"]
    assert [each.leader for each in described.partitions] == [1, 1, 1]
    assert described.topic_id == (await admin.list_topics())["topics"].topic_id
    resource = ConfigResource.topic("topics")
    (await admin.incremental_alter_configs({resource: {"retention.ms": "6000"}})).check()
    found = (await admin.describe_configs([resource], include_synonyms=True))[resource]
    assert found["retention.ms"].value == "6000"
    assert found["retention.ms"].source is ConfigSource.TOPIC
    assert found["retention.ms"].synonyms[0].source is ConfigSource.TOPIC
    (await admin.delete_topics("topics")).check()
    with pytest.raises(UnknownTopicOrPartition):
        (await admin.delete_topics("nothing")).check()


async def test_logs_directories_and_replicas(admin: Admin, apache: ApacheBroker) -> None:
    partition = TopicPartition("logs", 0)
    async with Producer[bytes, bytes](bootstrap_servers=apache.bootstrap) as producer:
        for timestamp_ms in (1000, 3000, 2000):
            await (await producer.send("logs", b"v", timestamp_ms=timestamp_ms, partition=0))
    for at, offset in {EARLIEST: 0, LATEST: 3, MAX_TIMESTAMP: 1, 1500: 1}.items():
        assert (await admin.list_offsets({partition: at}))[partition].offset == offset
    assert (await admin.delete_records({partition: 2}))[partition] == 2
    directories = (await admin.describe_log_dirs(partitions=[partition]))[1]
    (directory,) = directories.values()
    assert directory.replicas[partition].size_bytes > 0
    (await admin.alter_partition_reassignments({partition: [1]})).check()
    with pytest.raises(NoReassignmentInProgress):
        (await admin.alter_partition_reassignments({partition: None})).check()
    assert await admin.list_partition_reassignments() == {}
    with pytest.raises(ElectionNotNeeded):
        (await admin.elect_leaders([partition])).check()


async def test_the_cluster_its_quotas_and_what_it_lacks(admin: Admin) -> None:
    cluster = await admin.describe_cluster()
    assert [each.node_id for each in cluster.brokers] == [1]
    assert (await admin.describe_api_versions())[1][3] == range(13)
    assert (await admin.describe_features()).finalized == {}
    anna: QuotaEntity = ((USER, "anna"),)
    (await admin.alter_client_quotas({anna: {"producer_byte_rate": 1024.0}})).check()
    assert await admin.describe_client_quotas() == {anna: {"producer_byte_rate": 1024.0}}
    with pytest.raises(SecurityDisabled):
        await admin.describe_acls()


def member(apache: ApacheBroker, group_id: str, **settings: object) -> Consumer[bytes, bytes]:
    options = {
        "group_id": group_id,
        "auto_offset_reset": "earliest",
        "heartbeat_interval_ms": 100,
        "retry_backoff_ms": 20,
        **settings,
    }
    mapping = {name.replace("_", "."): value for name, value in options.items()}
    return Consumer({"bootstrap.servers": apache.bootstrap, **mapping})


async def settle(*members: Consumer[bytes, bytes], counts: list[int]) -> None:
    async with asyncio.timeout(60):
        while sorted(len(each.assignment()) for each in members) != sorted(counts):
            for each in members:
                await each.poll(0.05)


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
async def test_groups_and_their_offsets(admin: Admin, apache: ApacheBroker, assignor: str) -> None:
    topic, group = f"topic-{assignor}", f"group-{assignor}"
    (await admin.create_topics([NewTopic(topic, 4, 1)])).check()
    strategy = {"partition_assignment_strategy": assignor}
    async with member(apache, group, **strategy) as one, member(apache, group, **strategy) as two:
        one.subscribe([topic])
        await settle(one, counts=[4])
        two.subscribe([topic])
        await settle(one, two, counts=[2, 2])
        described = (await admin.describe_groups(group))[group]
        assert (described.state, described.assignor) == ("Stable", assignor)
        assert sorted(len(each.assignment) for each in described.members) == [2, 2]
        with pytest.raises(NonEmptyGroup):
            (await admin.delete_groups(group)).check()
    partition = TopicPartition(topic, 0)
    (await admin.alter_group_offsets(group, {partition: CommittedOffset(7, "why")})).check()
    found = (await admin.list_group_offsets(group, require_stable=True))[group]
    assert found[partition].offset == 7
    assert group in {each.group_id for each in await admin.list_groups(states=["Empty"])}
    (await admin.delete_group_offsets(group, [partition])).check()
    outcomes = await admin.delete_groups([group, "nobody"])
    with pytest.raises(GroupIdNotFound):
        outcomes["nobody"]


async def test_transactions_with_offsets(admin: Admin, apache: ApacheBroker) -> None:
    partition = TopicPartition("transacted", 0)
    options = {"bootstrap.servers": apache.bootstrap, "transactional.id": "id"}
    async with Producer[bytes, bytes](options) as producer:
        async with producer.transaction():
            await producer.send("transacted", b"1", partition=0)
            await producer.send_offsets_to_transaction({partition: 1}, "transacting")
        await producer.begin_transaction()
        await producer.send_and_wait("transacted", b"2")
        described = (await admin.describe_transactions(["id", "x"])).succeeded["id"]
        assert (described.state, described.partitions) == ("Ongoing", [partition])
        (state,) = (await admin.describe_producers([partition]))[partition]
        assert state.transaction_start_offset is not None
        await producer.abort_transaction()
        async with Producer[bytes, bytes](options) as second, second.transaction():
            await second.send("transacted", b"3", partition=0)
        with pytest.raises(ProducerFenced):
            async with producer.transaction():
                await producer.send("transacted", b"4", partition=0)
    with pytest.raises(TransactionalIdNotFound):
        (await admin.describe_transactions("x")).check()
    found: dict[TopicPartition, CommittedOffset] = {}
    async with asyncio.timeout(20):
        while not found:  # the end of the transaction reaches the group a little later
            found = (await admin.list_group_offsets("transacting", require_stable=True))[
                "transacting"
            ]
    assert found[partition].offset == 1
    reading = {"bootstrap.servers": apache.bootstrap, "auto.offset.reset": "earliest"}
    async with Consumer[bytes, bytes](reading, isolation_level="read_committed") as consumer:
        consumer.assign([partition])
        values: list[bytes | None] = []
        async with asyncio.timeout(20):
            while len(values) < 2:
                values += [record.value for record in await consumer.poll(1)]
    assert values == [b"1", b"3"]
