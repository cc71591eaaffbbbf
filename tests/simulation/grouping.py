"""Groups: consumers that commit offsets, and members that share partitions."""

import asyncio
import json

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from moldau.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from simulation.client import GROUP, TOPIC, Client, require
from simulation.history import Commit, Committed, History, Joined, Outcome

MEMBERS = "members"
NO_OFFSET = -1

_PAUSE_S = 0.6
_SESSION_TIMEOUT_MS = 6_000
_REBALANCE_TIMEOUT_MS = 3_000
_HEARTBEAT_S = 1.0


class Committer:
    """Commits greater and greater offsets, and looks what became of them.

    What was not answered may still happen, at any time. So after that it goes on with
    another group, in which nothing is under way.
    """

    def __init__(self, client: Client, history: History) -> None:
        self._client = client
        self._history = history
        self._life = 0

    async def run(self, until_s: float) -> None:
        """Commit until a moment."""
        loop = asyncio.get_running_loop()
        while loop.time() < until_s:
            self._life += 1
            group = f"{self._client.name}-{self._life}"
            done, tried = NO_OFFSET, NO_OFFSET
            while loop.time() < until_s and done == tried:
                tried += 1
                if await self._commit(group, tried):
                    done = tried
                if self._client.chance.random() < 0.3:
                    offset = await group_offset(self._client, group)
                    self._history.committed.append(Committed(group, offset, done, tried))
                await asyncio.sleep(_PAUSE_S * self._client.chance.random())
        self._client.close()

    async def _commit(self, group: str, offset: int) -> bool:
        """Commit, and say whether it is certain."""
        commit = Commit(group, offset)
        self._history.commits.append(commit)
        while True:
            try:
                await self._ask(group, offset)
            except KafkaError as error:
                await self._client.back_off()
                if error.code in (ErrorCode.NETWORK_EXCEPTION, ErrorCode.REQUEST_TIMED_OUT):
                    return False
            else:
                commit.outcome = Outcome.DONE
                return True

    async def _ask(self, group: str, offset: int) -> None:
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        request = OffsetCommitRequest(
            group_id=group, topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])]
        )
        answer = await self._client.ask_coordinator(GROUP, group, request, OffsetCommitResponse, 7)
        require(answer.topics[0].partitions[0].error_code)


async def group_offset(client: Client, group: str) -> int:
    """The offset of a group that no open transaction can change, however long it takes."""
    topics = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])]
    request = OffsetFetchRequest(group_id=group, topics=topics, require_stable=True)
    while True:
        try:
            answer = await client.ask_coordinator(GROUP, group, request, OffsetFetchResponse, 7)
            require(answer.error_code)
            found = answer.topics[0].partitions[0]
            require(found.error_code)
        except KafkaError:
            await client.back_off()
        else:
            return int(found.committed_offset)


class Member:
    """Joins the group that all members share, again and again as it changes."""

    def __init__(self, client: Client, partition_count: int, history: History) -> None:
        self._client = client
        self._partition_count = partition_count
        self._history = history
        self._member_id = ""

    async def run(self, until_s: float) -> None:
        """Be a member until a moment."""
        loop = asyncio.get_running_loop()
        while loop.time() < until_s:
            try:
                joined = await self._join()
                await self._sync(joined)
                await self._stay(joined.generation_id, until_s)
            except KafkaError as error:
                match error.code:
                    case ErrorCode.MEMBER_ID_REQUIRED | ErrorCode.REBALANCE_IN_PROGRESS:
                        continue
                    case ErrorCode.UNKNOWN_MEMBER_ID | ErrorCode.ILLEGAL_GENERATION:
                        self._member_id = ""
                    case _:
                        await self._client.back_off()
        self._client.close()

    async def _join(self) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id=MEMBERS,
            session_timeout_ms=_SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        answer = await self._client.ask_coordinator(GROUP, MEMBERS, request, JoinGroupResponse, 5)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = answer.member_id
        require(answer.error_code)
        self._member_id = answer.member_id
        return answer

    async def _sync(self, joined: JoinGroupResponse) -> None:
        assignments = []
        if joined.leader == joined.member_id:
            members = [member.member_id for member in joined.members]
            for index, member in enumerate(members):
                mine = list(range(index, self._partition_count, len(members)))
                assignments.append(
                    SyncGroupRequestAssignment(
                        member_id=member, assignment=json.dumps(mine).encode()
                    )
                )
        request = SyncGroupRequest(
            group_id=MEMBERS,
            generation_id=joined.generation_id,
            member_id=self._member_id,
            assignments=assignments,
        )
        answer = await self._client.ask_coordinator(GROUP, MEMBERS, request, SyncGroupResponse, 3)
        require(answer.error_code)
        assigned = json.loads(bytes(answer.assignment) or b"[]")
        self._history.joined.append(
            Joined(MEMBERS, self._member_id, joined.generation_id, assigned)
        )

    async def _stay(self, generation: int, until_s: float) -> None:
        request = HeartbeatRequest(
            group_id=MEMBERS, generation_id=generation, member_id=self._member_id
        )
        while asyncio.get_running_loop().time() < until_s:
            await asyncio.sleep(_HEARTBEAT_S)
            answer = await self._client.ask_coordinator(
                GROUP, MEMBERS, request, HeartbeatResponse, 3
            )
            require(answer.error_code)
