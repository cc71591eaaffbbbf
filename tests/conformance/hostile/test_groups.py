"""Groups that nobody may join so, and offsets that nobody may commit so."""

import pytest

from conformance.hostile.requests import FRAME_MAX_BYTES, TOPIC
from moldau.errors import ErrorCode
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from moldau.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from moldau.testing.wire import WireClient


@pytest.fixture(autouse=True)
def coordinator(client: WireClient, witness: None, bounds: None) -> None:
    """The groups' topic is there: its making is no growth of the case."""
    found = 15
    while found:
        response = client.ask(FindCoordinatorRequest(coordinator_keys=["group"], key_type=0), 4)
        found = response.coordinators[0].error_code


def join(group: str = "group", **changes: object) -> JoinGroupRequest:
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    for name, value in changes.items():
        setattr(request, name, value)
    return request


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (join(session_timeout_ms=5_999), ErrorCode.INVALID_SESSION_TIMEOUT),
        (join(session_timeout_ms=1_800_001), ErrorCode.INVALID_SESSION_TIMEOUT),
        (join(session_timeout_ms=-1), ErrorCode.INVALID_SESSION_TIMEOUT),
        (join(""), ErrorCode.INVALID_GROUP_ID),
        (join(protocols=[]), ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (join(protocol_type=""), ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (join(member_id="of-another"), ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_who_may_not_join_is_told_why(
    client: WireClient, request_: JoinGroupRequest, code: ErrorCode
) -> None:
    assert client.ask(request_, 3).error_code == code


def test_protocols_that_fill_a_frame_leave_nothing_behind(client: WireClient) -> None:
    many = [JoinGroupRequestProtocol(name=f"p{n}", metadata=bytes(8)) for n in range(10_000)]
    large = [JoinGroupRequestProtocol(name="p", metadata=bytes(FRAME_MAX_BYTES - 1_000))]
    for protocols in (many, large):
        for _ in range(3):
            code = client.ask(join("", protocols=protocols), 9).error_code
            assert code == ErrorCode.INVALID_GROUP_ID


def test_who_is_not_a_member_changes_nothing(client: WireClient) -> None:
    assignment = SyncGroupRequestAssignment(member_id="a", assignment=bytes(1_000_000))
    sync = SyncGroupRequest(
        group_id="group", generation_id=1, member_id="a", assignments=[assignment]
    )
    assert client.ask(sync, 3).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    beat = HeartbeatRequest(group_id="group", generation_id=1, member_id="a")
    assert client.ask(beat, 4).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def commit(metadata: str, **changes: object) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=metadata
    )
    request = OffsetCommitRequest(
        group_id="group", topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])]
    )
    for name, value in changes.items():
        setattr(request, name, value)
    return request


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (commit("x" * 4_097), ErrorCode.OFFSET_METADATA_TOO_LARGE),
        (
            commit("", group_id="none", generation_id_or_member_epoch=3, member_id="of-another"),
            ErrorCode.ILLEGAL_GENERATION,
        ),
    ],
)
def test_an_offset_that_nobody_may_commit_is_refused(
    client: WireClient, request_: OffsetCommitRequest, code: ErrorCode
) -> None:
    response = client.ask(request_, 8)
    assert response.topics[0].partitions[0].error_code == code
