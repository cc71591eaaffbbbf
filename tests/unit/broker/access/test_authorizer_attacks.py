"""What someone without rights could try, on every way through the broker."""

import asyncio
import logging
from typing import Any

import pytest

from moldau.broker.context import Client
from moldau.errors import ErrorCode
from moldau.net.answer import CloseConnection
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from moldau.protocol.messages.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.fetch import FetchRequest
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from moldau.protocol.messages.leave_group import LeaveGroupRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.produce import PartitionProduceData, TopicProduceData
from moldau.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from moldau.protocol.primitives import NO_UUID
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.record import Record
from moldau.security.acls import Operation, ResourceType
from unit.broker.access_world import (
    ROOT,
    AskingAs,
    access_world,
    acl,
    client,
    prefixed,
    set_rules,
)
from unit.broker.group_client import find_coordinator, join_request
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    in_session,
    produce,
)
from unit.broker.transaction_client import T0, begin
from unit.broker.transaction_client import Client as Transactional
from unit.broker.ways import Way
from unit.broker.world import START_MS, World, batch_of

TOPIC = ResourceType.TOPIC
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
MAY_READ, MAY_WRITE = acl(Operation.READ, TOPIC, "t"), acl(Operation.WRITE, TOPIC, "t")


@pytest.fixture(params=list(Way), ids=lambda way: str(way.value))
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = request.param
    return chosen


def transactional_batch() -> bytearray:
    record = Record(0, START_MS, None, b"x", ())
    return write_batch([record], producer=Producer(4, 0, 0), attributes=TRANSACTIONAL)


def asking(world: World, who: Client) -> Any:
    return AskingAs(world, who)


async def fetch_codes(world: World, request: FetchRequest, who: Client, version: int = 12) -> Any:
    response = await world.ask(request, version, client=who)
    return response.error_code, [one.error_code for one in fetched(response).values()]


async def test_cve_2018_1288_nobody_reads_as_a_replica_without_being_a_broker(way: Way) -> None:
    """Who pretends to be a follower would read, and confirm, what is not committed."""
    async with access_world(way=way) as world:
        await world.create_topic("t")
        world.append("t", b"x")
        set_rules(world, [MAY_READ])
        alice = client("alice")
        pretending = as_follower(fetch(fetch_partition(offset=1)), 5, 12)
        assert await fetch_codes(world, pretending, alice) == (0, [DENIED])
        assert world.partition("t").followers == {}
        # Nor does it get a session, of which followers' count more than others'.
        first = in_session(as_follower(fetch(fetch_partition()), 5, 12), 0, 0)
        assert (await world.ask(first, 12, client=alice)).session_id == 0
        assert len(world.broker.fetch_sessions) == 0


@pytest.mark.parametrize("is_first", [True, False])
async def test_cve_2018_17196_one_batch_of_a_transaction_is_enough_to_be_asked(
    way: Way, is_first: bool
) -> None:
    async with access_world(way=way) as world:
        await world.create_topic("t", 2)
        set_rules(world, [MAY_WRITE])
        batches = [transactional_batch(), batch_of(b"x")][:: 1 if is_first else -1]
        request = produce(None)
        request.topic_data = [
            TopicProduceData(
                name="t",
                partition_data=[
                    PartitionProduceData(index=index, records=batch)
                    for index, batch in enumerate(batches)
                ],
            )
        ]
        for transactional_id in (None, "tx"):
            request.transactional_id = transactional_id
            (topic,) = (await world.ask(request, 11, client=client("alice"))).responses
            told = {one.error_code for one in topic.partition_responses}
            assert told == {ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}
        assert [world.partition("t", n).log.log_end_offset for n in (0, 1)] == [0, 0]


async def test_a_partition_without_records_is_refused_alone(way: Way) -> None:
    async with access_world(way=way) as world:
        await world.create_topic("t", 2)
        set_rules(world, [MAY_WRITE])
        request = produce(None)
        request.topic_data[0].partition_data.append(
            PartitionProduceData(index=1, records=batch_of(b"x"))
        )
        (topic,) = (await world.ask(request, 11, client=client("alice"))).responses
        told = [one.error_code for one in topic.partition_responses]
        assert told == [ErrorCode.INVALID_RECORD, ErrorCode.NONE]


async def test_records_of_a_producer_that_wants_no_answer_close_its_connection(way: Way) -> None:
    async with access_world(way=way) as world:
        await world.create_topic("t")
        with pytest.raises(CloseConnection):
            await world.ask(produce(batch_of(b"x"), acks=0), 11, client=client("alice"))
        assert world.partition("t").log.log_end_offset == 0


async def test_a_fetch_session_belongs_to_who_began_it(way: Way) -> None:
    async with access_world(way=way) as world:
        await world.create_topic("t")
        world.append("t", b"secret")
        bob_reads = acl(Operation.READ, TOPIC, "t", principal="User:bob")
        set_rules(world, [MAY_READ, bob_reads])
        alice, bob = client("alice"), client("bob")
        first = in_session(fetch(fetch_partition()), 0, 0)
        session_id = (await world.ask(first, 12, client=alice)).session_id
        assert session_id
        guessed = await world.ask(in_session(fetch(), session_id, 1), 12, client=bob)
        assert guessed.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        assert guessed.responses == []
        # Nor can another end it.
        await world.ask(in_session(fetch(fetch_partition()), session_id, -1), 12, client=bob)
        again = await world.ask(in_session(fetch(), session_id, 1), 12, client=alice)
        assert again.error_code == ErrorCode.NONE


async def test_a_right_that_is_taken_away_ends_a_fetch_that_waits(way: Way) -> None:
    async with access_world(way=way) as world:
        await world.create_topic("t")
        set_rules(world, [MAY_READ])
        waiting = await world.park(
            fetch(fetch_partition(), max_wait_ms=60_000), 12, client=client("alice")
        )
        set_rules(world, [])
        world.append("t", b"secret")
        (told,) = fetched(await waiting).values()
        assert told.error_code == DENIED
        assert not told.records


async def test_a_right_that_is_taken_away_ends_a_session(way: Way) -> None:
    async with access_world(way=way) as world:
        await world.create_topic("t")
        set_rules(world, [MAY_READ])
        alice = client("alice")
        first = in_session(fetch(fetch_partition()), 0, 0)
        session_id = (await world.ask(first, 12, client=alice)).session_id
        set_rules(world, [])
        world.append("t", b"secret")
        answer = await fetch_codes(world, in_session(fetch(), session_id, 1), alice)
        assert answer == (0, [DENIED])


async def test_a_topic_made_anew_needs_the_rights_of_its_name(way: Way) -> None:
    async with access_world(way=way) as world:
        await world.create_topic("t")
        set_rules(world, [MAY_WRITE])
        alice = client("alice")
        ask = produce(batch_of(b"x"))
        (topic,) = (await world.ask(ask, 11, client=alice)).responses
        assert topic.partition_responses[0].error_code == ErrorCode.NONE
        await world.broker.topics.delete("t")
        set_rules(world, [])
        await world.broker.topics.until_all_gone(["t"], timeout_s=5)
        while world.broker.controller.is_deleting("t"):
            await asyncio.sleep(0)
        await world.create_topic("t")
        (topic,) = (await world.ask(ask, 11, client=alice)).responses
        assert topic.partition_responses[0].error_code == DENIED


async def test_ids_of_topics_open_nothing() -> None:
    async with access_world() as world:
        topic_id = await world.create_topic("secret")
        eve = client("eve")
        by_id = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=topic_id)])
        (topic,) = (await world.ask(by_id, 12, client=eve)).topics
        assert (topic.error_code, topic.name, topic.topic_id) == (DENIED, None, topic_id)
        request = DeleteTopicsRequest(
            topics=[DeleteTopicState(name=None, topic_id=topic_id)], timeout_ms=0
        )
        (gone,) = (await world.ask(request, 6, client=eve)).responses
        assert (gone.error_code, gone.name) == (DENIED, None)
        answer = await fetch_codes(world, fetch(fetch_partition(), topic=topic_id), eve, 13)
        assert answer == (0, [DENIED])
        unknown = b"\7" * 16
        by_id.topics = [MetadataRequestTopic(name=None, topic_id=unknown)]
        (topic,) = (await world.ask(by_id, 12, client=eve)).topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_who_may_describe_but_not_delete_is_told_the_name_of_an_id() -> None:
    async with access_world() as world:
        topic_id = await world.create_topic("t")
        set_rules(world, [acl(Operation.DESCRIBE, TOPIC, "t")])
        request = DeleteTopicsRequest(
            topics=[DeleteTopicState(name=None, topic_id=topic_id)], timeout_ms=0
        )
        (kept,) = (await world.ask(request, 6, client=client("alice"))).responses
        assert (kept.error_code, kept.name) == (DENIED, "t")


@pytest.mark.parametrize("name", ["t\0", "t\nPrincipal = User:root is Allowed", "*", "t/../u"])
async def test_names_that_are_none_are_denied_and_make_no_lines(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with access_world() as world:
        set_rules(world, [acl(Operation.READ, ResourceType.GROUP, "t")])
        with caplog.at_level(logging.INFO, "kafka.authorizer.logger"):
            request = DescribeGroupsRequest(groups=[name])
            (group,) = (await world.ask(request, 5, client=client("alice"))).groups
        assert group.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
        (line,) = [one.getMessage() for one in caplog.records if "Principal" in one.getMessage()]
        assert line.isprintable()


async def test_someone_called_like_the_wildcard_is_nobody_special() -> None:
    async with access_world() as world:
        await world.create_topic("t")
        set_rules(world, [MAY_READ])
        assert await fetch_codes(world, fetch(fetch_partition()), client("*")) == (0, [DENIED])


async def test_who_knows_another_s_member_id_is_no_member() -> None:
    async with access_world() as world:
        set_rules(world, [acl(Operation.READ, ResourceType.GROUP, "g")])
        alice, eve = client("alice"), client("eve")
        await find_coordinator(asking(world, ROOT))
        first = await world.ask(join_request(), 3, client=alice)
        member = {
            "group_id": "g",
            "generation_id": first.generation_id,
            "member_id": first.member_id,
        }
        stolen = [
            (HeartbeatRequest(**member), 3),
            (SyncGroupRequest(**member, assignments=[]), 3),
            (LeaveGroupRequest(group_id="g", member_id=first.member_id), 2),
            (join_request(first.member_id), 3),
        ]
        for request, version in stolen:
            answer = await world.ask(request, version, client=eve)
            assert answer.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED, request
        sync = SyncGroupRequest(
            **member,
            assignments=[SyncGroupRequestAssignment(member_id=first.member_id, assignment=b"all")],
        )
        assert (await world.ask(sync, 3, client=alice)).assignment == b"all"
        assert (await world.ask(HeartbeatRequest(**member), 3, client=alice)).error_code == 0


async def test_who_knows_another_s_transactional_id_has_no_transaction(way: Way) -> None:
    rights = [acl(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "tx"), MAY_WRITE]
    everyone = acl(Operation.WRITE, TOPIC, "t", principal="User:*")
    async with access_world(way=way) as world:
        set_rules(world, [*rights, everyone, acl(Operation.DESCRIBE, ResourceType.GROUP, "tx")])
        await begin(asking(world, ROOT))
        alice = Transactional(asking(world, client("alice")))
        eve = Transactional(asking(world, client("eve")))
        assert await alice.init() == 0
        assert await alice.add(T0) == [ErrorCode.NONE]
        denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        assert await eve.init() == denied
        eve.identity = alice.identity
        assert await eve.add(T0) == [denied]
        assert await eve.produce(b"forged") == denied
        assert await eve.end() == denied
        assert await alice.produce(b"x") == ErrorCode.NONE
        assert await alice.end() == ErrorCode.NONE
        await alice.until_complete()
        assert world.partition("t").log.log_end_offset == 2


async def test_an_unknown_topic_is_created_by_those_who_may() -> None:
    async with access_world() as world:
        set_rules(world, [prefixed(Operation.DESCRIBE, TOPIC, "n")])
        topics = [MetadataRequestTopic(name="new", topic_id=NO_UUID)]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=True)
        (topic,) = (await world.ask(request, 12, client=client("alice"))).topics
        assert topic.error_code == DENIED
        assert "new" not in world.broker.metadata.image.topics
        (topic,) = (await world.ask(request, 12, client=ROOT)).topics
        assert "new" in world.broker.metadata.image.topics
