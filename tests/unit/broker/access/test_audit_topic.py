"""Denials as records of a topic."""

import asyncio
import json
from typing import Any

import pytest

from moldau import Admin
from moldau.broker.access.audit import Audit, AuditedResource
from moldau.broker.access.audit_topic import KEPT_MAX, TEXT_MAX, AuditTopic
from moldau.client.admin.topics import NewTopic
from moldau.errors import (
    ClusterAuthorizationFailed,
    ErrorCode,
    KafkaError,
    TopicAuthorizationFailed,
)
from moldau.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from moldau.records.batch import read_records
from moldau.security.acls import Operation, ResourceType
from moldau.security.authorization import Asker
from moldau.security.principals import Principal
from moldau.testing.broker import BrokerNotStarted, running_broker
from unit.broker.access_world import access_world
from unit.broker.world import World
from unit.waiting import LoopTime, settled, until

NAME = "denials"
SETTINGS = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:root",
    "moldau.audit.topic": NAME,
}
EVE = Asker.of(Principal("User", "eve"), "10.0.0.9")


def test_who_is_denied_something_is_in_the_topic() -> None:
    with running_broker(SETTINGS) as kafka:

        async def try_something() -> None:
            async with Admin({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
                with pytest.raises(TopicAuthorizationFailed):
                    (await admin.create_topics([NewTopic("t", 1, 1)])).check()
                with pytest.raises(ClusterAuthorizationFailed):
                    await admin.describe_acls()

        asyncio.run(try_something())
        kafka.wait_for_records(NAME, 2)
        (records,) = kafka.records(NAME).values()
        told = [json.loads(record.value or b"") for record in records]
    assert [(one["operation"], one["api"]) for one in told] == [
        ("Create", "CreateTopics"),
        ("Describe", "DescribeAcls"),
    ]
    assert told[0] == {
        "time_ms": told[0]["time_ms"],
        "broker": 0,
        "principal": "User:ANONYMOUS",
        "host": "127.0.0.1",
        "operation": "Create",
        "resource_type": "Topic",
        "pattern_type": "LITERAL",
        "resource_name": "t",
        "api": "CreateTopics",
        "count": 1,
    }
    assert records[0].key == b"User:ANONYMOUS"
    assert records[0].timestamp == told[0]["time_ms"]


def test_a_name_that_no_topic_can_have_is_refused_at_start() -> None:
    wrong = {**SETTINGS, "moldau.audit.topic": "a/b"}
    with pytest.raises(BrokerNotStarted, match="a/b"), running_broker(wrong):
        pass


class Leader:
    """Takes what is sent, unless it is told to fail."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.failures: list[KafkaError] = []
        self.error_codes: list[int] = []

    async def send(self, broker_id: int, request: object) -> ProduceResponse:
        assert broker_id == 0
        assert isinstance(request, ProduceRequest)
        if self.failures:
            raise self.failures.pop()
        code = self.error_codes.pop() if self.error_codes else 0
        (data,) = request.topic_data[0].partition_data
        if not code:
            rows = read_records(data.records or b"", 0, limit_bytes=1 << 30)
            self.taken += [json.loads(row.value or b"") for row in rows]
        told = PartitionProduceResponse(index=0, error_code=code, base_offset=0)
        topic = TopicProduceResponse(name=NAME, partition_responses=[told])
        return ProduceResponse(responses=[topic])


def topic_of(world: World) -> AuditTopic:
    return AuditTopic(NAME, world.broker, replication_factor=1)


async def run_until(
    topic: AuditTopic, leader: Leader, count: int, time: LoopTime | None = None
) -> None:
    task = asyncio.create_task(topic.run(leader.send))
    wait = until if time is None else time.until
    await wait(lambda: len(leader.taken) >= count or task.done())
    # Once more, for what is told after the last answer.
    await settled()
    assert not task.done() or task.result()
    task.cancel()


async def test_what_a_leader_does_not_take_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with access_world() as world:
        await world.create_topic(NAME)
        topic, leader = topic_of(world), Leader()
        leader.failures.append(KafkaError(ErrorCode.NETWORK_EXCEPTION, "gone"))
        leader.error_codes.append(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        topic.add("User:eve", {"n": 1})
        await run_until(topic, leader, 1, LoopTime(monkeypatch))
        assert [one["n"] for one in leader.taken] == [1]


async def test_of_too_many_the_oldest_are_lost_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with access_world() as world:
        await world.create_topic(NAME)
        topic, leader = topic_of(world), Leader()
        for number in range(KEPT_MAX + 3):
            topic.add("User:eve", {"n": number})
        await run_until(topic, leader, KEPT_MAX)
    assert [one["n"] for one in leader.taken] == list(range(3, KEPT_MAX + 3))
    assert "Dropped 3 denials" in caplog.text


async def test_names_are_kept_as_far_as_one_wants_to_read_them() -> None:
    async with access_world() as world:
        await world.create_topic(NAME)
        topic, leader = topic_of(world), Leader()
        topic.add("User:" + "e" * 10_000, {"resource_name": "\ud800" + "x" * 100_000})
        await run_until(topic, leader, 1)
    assert len(leader.taken[0]["principal"]) == TEXT_MAX
    assert len(leader.taken[0]["resource_name"]) <= TEXT_MAX + 5


async def test_denied_writes_to_the_topic_itself_are_not_recorded_in_it() -> None:
    async with access_world() as world:
        topic = topic_of(world)
        audit = Audit(topic)
        for name in (NAME, "other"):
            resource = AuditedResource(ResourceType.TOPIC, name)
            audit.note(EVE, Operation.WRITE, resource, "Produce", is_allowed=False)
            audit.note(EVE, Operation.READ, resource, "Fetch", is_allowed=True)
        assert len(topic._kept) == 1
