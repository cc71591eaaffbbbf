"""A client that speaks about groups, in any version, to a broker in memory."""

from contextlib import suppress
from typing import Any

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from unit.broker.world import World, until

SETTINGS = {"offsets.topic.num.partitions": "2"}


async def find_coordinator(world: World, key: str = "g") -> None:
    """Have the offsets topic made and loaded, however long that takes on a busy machine."""
    await world.ask(FindCoordinatorRequest(key=key), 1)
    shards = world.broker.groups.shards

    def is_found() -> bool:
        with suppress(KafkaError):
            return shards.of(key).is_loaded and not shards.is_loading
        return False

    await until(world.broker.waiters, is_found, "")


def join_request(member_id: str = "", **fields: Any) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"m")],
        **fields,
    )


async def joined(world: World, version: int = 3, **fields: Any) -> str:
    """Join alone and be assigned everything; returns the member id."""
    await find_coordinator(world)
    reply = await world.ask(join_request(**fields), version)
    if reply.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        reply = await world.ask(join_request(reply.member_id, **fields), version)
    assert reply.error_code == ErrorCode.NONE
    member_id: str = reply.member_id
    assignment = SyncGroupRequestAssignment(member_id=member_id, assignment=b"all")
    sync = SyncGroupRequest(
        group_id="g",
        generation_id=reply.generation_id,
        member_id=member_id,
        assignments=[assignment],
    )
    assert (await world.ask(sync, 1)).assignment == b"all"
    return member_id


def commit_request(*partitions: tuple[str, int, int], **fields: Any) -> OffsetCommitRequest:
    """Commit offsets given as topic, partition and offset."""
    return OffsetCommitRequest(
        group_id="g",
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=number,
                        committed_offset=offset,
                        committed_metadata="note",
                    )
                ],
            )
            for topic, number, offset in partitions
        ],
        **fields,
    )


def commit_errors(response: Any) -> list[ErrorCode]:
    return [ErrorCode(each.error_code) for topic in response.topics for each in topic.partitions]
