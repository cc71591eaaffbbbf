"""Topics: created, grown, described, deleted, with an outcome for each."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewPartitions, NewTopic
from moldau.errors import (
    InvalidPartitions,
    InvalidReplicationFactor,
    TopicAlreadyExists,
    UnknownTopicOrPartition,
)
from moldau.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from moldau.security.acls import Operation
from moldau.testing.broker import EmbeddedBroker
from unit.client.admin.answering import Answering, admin_of
from unit.client.older_metadata import speak_older_metadata


async def test_what_is_created_is_described(admin: Admin) -> None:
    wanted = [NewTopic("t", 3, 1, configs={"retention.ms": "5"}), NewTopic("u", replicas={0: [0]})]
    created = (await admin.create_topics(wanted)).check()
    assert (created["t"].partitions, created["t"].replication_factor) == (3, 1)
    assert created["t"].configs["retention.ms"] == "5"
    described = (await admin.describe_topics(["t", "u"])).check()
    assert described["t"].topic_id == created["t"].topic_id
    assert [each.partition for each in described["t"].partitions] == [0, 1, 2]
    partition = described["u"].partitions[0]
    assert (partition.leader, partition.replicas, partition.isr) == (0, [0], [0])
    assert described["t"].authorized_operations is not None
    assert Operation.DELETE in described["t"].authorized_operations


async def test_one_failure_does_not_touch_the_others(admin: Admin) -> None:
    outcomes = await admin.create_topics(["t", NewTopic("many", 1, 9)])
    assert outcomes["t"].partitions == 1
    with pytest.raises(InvalidReplicationFactor):
        outcomes["many"]
    with pytest.raises(TopicAlreadyExists):
        (await admin.create_topics(["t"])).check()
    assert list(await admin.list_topics()) == ["t"]


async def test_validation_creates_nothing(admin: Admin) -> None:
    (await admin.create_topics(["t"], validate_only=True)).check()
    assert await admin.list_topics() == {}


async def test_topics_of_the_broker_are_listed_if_asked_for(admin: Admin) -> None:
    await admin.fence_producers("id")
    assert await admin.list_topics() == {}
    listed = await admin.list_topics(include_internal=True)
    assert listed["__transaction_state"].is_internal


@pytest.mark.parametrize("version", [0, 1, 3, 12])
async def test_a_description_creates_no_topic(kafka: EmbeddedBroker, version: int) -> None:
    async with Admin(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5) as admin:
        await admin.create_topics(["t"])
    speak_older_metadata(kafka, version)
    async with Admin(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5) as admin:
        found = await admin.describe_topics(["t", "typo"])
        assert [*found.succeeded] == ["t"]
        assert isinstance(found.errors["typo"], UnknownTopicOrPartition)
        assert list(await admin.list_topics()) == ["t"]
        assert not await admin.describe_topics([])


async def test_all_topics_are_described_by_one_request(admin: Admin, kafka: EmbeddedBroker) -> None:
    await admin.create_topics([NewTopic("t", 3), "u"])
    await admin.fence_producers("id")
    asked: list[object] = []
    kafka.control("Metadata", asked.append)
    found = await admin.describe_all_topics()
    assert list(found) == ["__transaction_state", "t", "u"]
    assert len(found["t"].partitions) == 3
    assert len(asked) == 1


async def test_topics_grow(admin: Admin) -> None:
    await admin.create_topics(["t", "u"])
    outcomes = await admin.create_partitions({"t": 3, "u": NewPartitions(2, [[0]]), "x": 2})
    assert set(outcomes.succeeded) == {"t", "u"}
    with pytest.raises(UnknownTopicOrPartition):
        outcomes["x"]
    assert len((await admin.describe_topics("t"))["t"].partitions) == 3
    with pytest.raises(InvalidPartitions):
        (await admin.create_partitions({"t": 1})).check()


async def test_what_is_deleted_is_gone(admin: Admin) -> None:
    await admin.create_topics(["t", "u"])
    outcomes = await admin.delete_topics(["t", "x"])
    assert outcomes["t"] is None
    with pytest.raises(UnknownTopicOrPartition):
        outcomes["x"]
    with pytest.raises(UnknownTopicOrPartition):
        (await admin.describe_topics("t")).check()
    (await admin.delete_topics("u")).check()
    assert await admin.list_topics() == {}


async def test_older_brokers_delete_by_name() -> None:
    answer = DeleteTopicsResponse(responses=[DeletableTopicResult(name="t", error_code=0)])
    broker = Answering(DeleteTopics=lambda _: answer)
    broker.newest["DeleteTopics"] = 1
    async with admin_of(broker) as admin:
        (await admin.delete_topics("t")).check()
    assert broker.asked[0].topic_names == ["t"]


async def test_the_oldest_brokers_list_their_topics_too() -> None:
    broker = Answering()
    broker.newest["Metadata"] = 0
    async with admin_of(broker) as admin:
        assert await admin.list_topics() == {}
