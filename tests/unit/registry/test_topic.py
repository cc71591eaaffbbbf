"""The topic is made as a registry needs it, and read whatever is in it."""

import asyncio

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.registry.records import NoopRecord, SchemaRecord, StoredSchema, encode
from moldau.registry.subjects import Subjects
from moldau.registry.topic import TopicReader, TopicUnusable, highest_id_between, prepare_topic
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.registry.started import started_registry
from unit.waiting import until


def client(broker: EmbeddedBroker) -> dict[str, object]:
    return {"bootstrap.servers": broker.bootstrap_servers}


def schema(subject: str, schema_id: int) -> tuple[bytes, bytes | None]:
    text = f'{{"type":"fixed","name":"F","size":{schema_id}}}'
    return encode(SchemaRecord(subject, 1, StoredSchema(subject, 1, schema_id, text)))


async def write(
    broker: EmbeddedBroker, topic: str, *pairs: tuple[bytes | None, bytes | None]
) -> int:
    async with Producer(client(broker)) as producer:
        for key, value in pairs:
            last = await producer.send_and_wait(topic, value, key=key, partition=0)
    return last.offset


async def test_it_is_made_once_with_one_partition_that_is_compacted(broker: EmbeddedBroker) -> None:
    await prepare_topic(client(broker), "made", None)
    await prepare_topic(client(broker), "made", 1)


@pytest.mark.parametrize(
    ("name", "partitions", "policy", "words"),
    [("two", 2, "compact", "2 partitions"), ("deleting", 1, "delete", "cleanup.policy=delete")],
)
async def test_one_of_another_kind_is_refused(
    broker: EmbeddedBroker, name: str, partitions: int, policy: str, words: str
) -> None:
    new = NewTopic(name, partitions, 1, configs={"cleanup.policy": policy})
    async with Admin(client(broker)) as admin:
        (await admin.create_topics([new])).check()
    with pytest.raises(TopicUnusable, match=words):
        await prepare_topic(client(broker), name, None)


async def test_what_is_there_is_read_before_anything_is_answered(broker: EmbeddedBroker) -> None:
    await prepare_topic(client(broker), "full", 1)
    rubbish = [(b"no key", b"{}"), (b"", b"x"), (b"{}", None), (b'{"keytype":"SCHEMA"}', b"\xff")]
    taken = schema("taken", 1)[0], schema("x", 1)[1]
    last = await write(broker, "full", *rubbish, schema("a", 1), taken, schema("b", 1000))
    reader = TopicReader(client(broker), "full", Subjects(), asyncio.Lock())
    started = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(reader.run(started.set))
        await started.wait()
        assert reader.subjects.names() == ["a", "b"]
        assert (reader.applied_offset, reader.subjects.highest_id) == (last, 1000)
        following = await write(broker, "full", encode(NoopRecord(2000)))
        assert await reader.reached(following, 30)
        assert reader.subjects.highest_id == 2000
        assert not await reader.reached(following + 1, 0.0)
        reading.cancel()


async def test_a_right_that_is_taken_and_given_again_does_no_harm(broker: EmbeddedBroker) -> None:
    await prepare_topic(client(broker), "denied", 1)
    await write(broker, "denied", schema("a", 1))
    reader = TopicReader(client(broker), "denied", Subjects(), asyncio.Lock())
    started, refusals = asyncio.Event(), 0

    def refuse(_: object) -> Fail:
        nonlocal refusals
        refusals += 1
        return Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    async with asyncio.TaskGroup() as tasks:
        allow = broker.control("Fetch", refuse)
        reading = tasks.create_task(reader.run(started.set))
        await until(lambda: refusals > 1)
        assert not started.is_set()
        allow()
        await started.wait()
        assert reader.subjects.names() == ["a"]
        assert not reader.failure
        reading.cancel()


async def test_one_that_is_truncated_while_it_is_read_ends_the_start(
    broker: EmbeddedBroker,
) -> None:
    await prepare_topic(client(broker), "shrinking", 1)
    await write(broker, "shrinking", schema("a", 1))
    reader = TopicReader(client(broker), "shrinking", Subjects(), asyncio.Lock())
    allow = broker.control("Fetch", lambda _: Fail(ErrorCode.OFFSET_OUT_OF_RANGE))
    with pytest.raises(TopicUnusable, match="deleted or truncated"):
        await reader.run(lambda: None)
    allow()


async def test_ids_of_aborted_transactions_are_seen_too(broker: EmbeddedBroker) -> None:
    await prepare_topic(client(broker), "aborted", 1)
    settings = {**client(broker), "transactional.id": "x"}
    async with Producer(settings) as producer:
        await producer.begin_transaction()
        key, value = schema("a", 7)
        await producer.send_and_wait("aborted", value, key=key, partition=0)
        await producer.send_and_wait("aborted", b"rubbish", key=b"", partition=0)
        await producer.abort_transaction()
    end = await write(broker, "aborted", schema("b", 9))
    partition = TopicPartition("aborted", 0)
    assert await highest_id_between(client(broker), partition, 0, end) == 7
    assert await highest_id_between(client(broker), partition, 0, 0) == 0


async def test_when_the_topic_is_gone_schemas_are_read_and_none_is_written(
    broker: EmbeddedBroker,
) -> None:
    def body(name: str) -> dict[str, str]:
        return {"schema": f'{{"type":"fixed","name":"{name}","size":1}}'}

    with started_registry(broker.bootstrap_servers, topic="gone") as registry:
        ask = registry.ask
        written = await asyncio.to_thread(ask, "POST", "/subjects/a/versions", body("A"))
        assert written == (200, {"id": 1})
        async with Admin(client(broker)) as admin:
            (await admin.delete_topics("gone")).check()
            new = NewTopic("gone", 1, 1, configs={"cleanup.policy": "compact"})
            (await admin.create_topics([new])).check()
        refused = await asyncio.to_thread(ask, "POST", "/subjects/b/versions", body("B"))
        assert refused.status == 500
        await until(lambda: registry.service.reader.failure)
        assert await asyncio.to_thread(ask, "GET", "/subjects") == (200, ["a"])


async def set_policy(admin: Admin, topic: str, policy: str) -> None:
    """Records of a topic that is only compacted cannot be deleted otherwise."""
    change = {ConfigResource.topic(topic): {"cleanup.policy": policy}}
    (await admin.incremental_alter_configs(change)).check()


async def test_when_the_topic_is_truncated_what_is_left_is_read_and_ids_go_on(
    broker: EmbeddedBroker,
) -> None:
    def body(name: str) -> dict[str, str]:
        return {"schema": f'{{"type":"fixed","name":"{name}","size":1}}'}

    partition = TopicPartition("cut", 0)
    with started_registry(broker.bootstrap_servers, topic="cut") as registry:
        ask = registry.ask
        for name in "abc":
            found = await asyncio.to_thread(ask, "POST", f"/subjects/{name}/versions", body(name))
            assert found.status == 200
        last = registry.service.reader.applied_offset
        async with Admin(client(broker)) as admin:
            await set_policy(admin, "cut", "delete")
            (await admin.delete_records({partition: last})).check()
            await set_policy(admin, "cut", "compact")
        written = await asyncio.to_thread(ask, "POST", "/subjects/d/versions", body("d"))
        assert written == (200, {"id": 4}), "what is in memory is enough"
    with started_registry(broker.bootstrap_servers, topic="cut") as registry:
        assert await asyncio.to_thread(registry.ask, "GET", "/subjects") == (200, ["c", "d"])
        written = await asyncio.to_thread(registry.ask, "POST", "/subjects/e/versions", body("e"))
        assert written == (200, {"id": 5})
