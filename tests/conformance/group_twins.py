"""The same requests about a group to any broker, and what it says, in words that compare.

Member ids differ from broker to broker: they are told by the order in which they were given
out. A request without an answer within a moment counts as parked; its answer is told when it
comes. When a leader goes, who follows is up to the broker, unless only one remains: among
three members the leader therefore stays. In every second play members speak older versions,
each its own.
"""

import random
import select
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from typing import Any

from moldau.errors import ErrorCode
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode
from moldau.protocol.declaration import facts_of
from moldau.protocol.headers import decode_response_header
from moldau.protocol.messages.delete_groups import DeleteGroupsRequest
from moldau.protocol.messages.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from moldau.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from moldau.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from moldau.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from moldau.testing.wire import WireClient

PARKED_AFTER_S = 0.3
TOPIC = "twins"
MEMBERS = (("a", None), ("s", "static"), ("b", None))
ACTIONS = (
    *("join",) * 5,
    *("sync",) * 5,
    *("heartbeat",) * 2,
    *("commit",) * 3,
    *("leave", "restart", "fetch", "describe", "delete_offsets", "stale", "fenced", "simple"),
    "delete_group",
)


@dataclass(frozen=True)
class Versions:
    """The versions that a member speaks."""

    join: int = 9
    sync: int = 5
    heartbeat: int = 4
    leave: int = 5
    commit: int = 8

    @classmethod
    def drawn(cls, source: random.Random, *, is_static: bool) -> "Versions":
        """Any; for a static member one that knows of these."""
        first = cls(5, 3, 3, 3, 7) if is_static else cls(0, 0, 0, 0, 2)
        ranges = zip(astuple(first), astuple(cls()), strict=True)
        return cls(*(source.randint(*each) for each in ranges))


@dataclass
class Actor:
    """A member with a connection of its own; it can be parked."""

    client: WireClient
    instance_id: str | None
    versions: Versions
    leader: str = ""
    member_id: str = ""
    generation: int = -1
    members: tuple[str, ...] = ()
    waiting: tuple[str, object, int] | None = None

    @property
    def metadata(self) -> bytes:
        """A subscription to nothing, with the member's name as user data."""
        return b"\0\0\0\0\0\0\0\0\0\1" + self.client.client_id.encode()


@dataclass
class GroupTwin:
    """One of the brokers, and the members that talk to it."""

    bootstrap: str
    group: str
    seed: int
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tool = WireClient(self.bootstrap)
        self.source = random.Random(self.seed)
        self.actors = [
            Actor(WireClient(self.bootstrap, client_id=name), instance_id, Versions())
            for name, instance_id in MEMBERS[: self.source.choice((2, 3))]
        ]
        if self.seed % 2:
            for actor in self.actors:
                is_static = actor.instance_id is not None
                actor.versions = Versions.drawn(self.source, is_static=is_static)
        while self.tool.ask(FindCoordinatorRequest(key=self.group), 2).error_code:
            pass
        fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=self.group, topics=[])])
        while self.tool.ask(fetch, 8).groups[0].error_code:
            pass

    def close(self) -> None:
        """Hang up, with whatever is parked."""
        for client in (self.tool, *(actor.client for actor in self.actors)):
            client.close()

    def play(self, steps: int) -> Iterator[str]:
        """What comes of each step."""
        for _ in range(steps):
            action = self.source.choice(ACTIONS)
            index = self.source.randrange(len(self.actors))
            actor = self.actors[index]
            is_staying = len(self.actors) > 2 and actor.leader in ("", actor.member_id)
            if actor.waiting is None and not (is_staying and action in ("leave", "restart")):
                yield f"{action} {index}: {getattr(self, action)(actor)}"
            for other, each in enumerate(self.actors):
                if each.waiting is not None and _is_readable(each, PARKED_AFTER_S):
                    yield f"  {each.waiting[0]} {other}: {self._answer(each)}"

    # Requests of members

    def join(self, actor: Actor) -> str:
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=60_000,
            member_id=actor.member_id,
            group_instance_id=actor.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=actor.metadata)],
        )
        return self._ask(actor, "join", request, actor.versions.join)

    def sync(self, actor: Actor) -> str:
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=actor.generation,
            member_id=actor.member_id,
            group_instance_id=actor.instance_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(member_id=each, assignment=self.names[each].encode())
                for each in actor.members
            ],
        )
        return self._ask(actor, "sync", request, actor.versions.sync)

    def heartbeat(self, actor: Actor) -> str:
        return self._heartbeat(actor, actor.member_id, actor.generation)

    def stale(self, actor: Actor) -> str:
        return self._heartbeat(actor, actor.member_id, actor.generation - 1)

    def fenced(self, actor: Actor) -> str:
        return self._heartbeat(actor, "somebody-else", actor.generation)

    def _heartbeat(self, actor: Actor, member_id: str, generation: int) -> str:
        request = HeartbeatRequest(
            group_id=self.group,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=actor.instance_id,
        )
        return self._ask(actor, "heartbeat", request, actor.versions.heartbeat)

    def leave(self, actor: Actor) -> str:
        member = MemberIdentity(member_id=actor.member_id, group_instance_id=actor.instance_id)
        request = LeaveGroupRequest(group_id=self.group, members=[member])
        if actor.versions.leave < 3:
            request = LeaveGroupRequest(group_id=self.group, member_id=actor.member_id)
        return self._ask(actor, "leave", request, actor.versions.leave)

    def restart(self, actor: Actor) -> str:
        actor.member_id = ""
        return "without id"

    def commit(self, actor: Actor) -> str:
        request = self._commit_request(actor.generation * 10)
        request.member_id = actor.member_id
        request.generation_id_or_member_epoch = actor.generation
        request.group_instance_id = actor.instance_id
        return self._ask(actor, "commit", request, actor.versions.commit)

    def _commit_request(self, offset: int, number: int = 0) -> OffsetCommitRequest:
        partition = OffsetCommitRequestPartition(
            partition_index=number, committed_offset=offset, committed_metadata="m"
        )
        topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
        return OffsetCommitRequest(group_id=self.group, topics=[topic])

    # Requests of tools

    def simple(self, _: Actor) -> str:
        response = self.tool.ask(self._commit_request(7), 8)
        return _code(response.topics[0].partitions[0].error_code)

    def fetch(self, _: Actor) -> str:
        group = OffsetFetchRequestGroup(group_id=self.group, topics=None)
        (found,) = self.tool.ask(OffsetFetchRequest(groups=[group]), 8).groups
        offsets = sorted(
            (topic.name, each.partition_index, each.committed_offset, each.metadata)
            for topic in found.topics
            for each in topic.partitions
        )
        return f"{_code(found.error_code)} {offsets}"

    def describe(self, _: Actor) -> str:
        (group,) = self.tool.ask(DescribeGroupsRequest(groups=[self.group]), 5).groups
        members = sorted(
            f"{self._name(each.member_id)} {each.client_id} {each.client_host} "
            f"{each.member_assignment!r} {each.member_metadata!r}"
            for each in sorted(group.members, key=lambda member: member.client_id)
        )
        return f"{group.group_state} {group.protocol_type} {group.protocol_data} {members}"

    def delete_offsets(self, _: Actor) -> str:
        (group,) = self.tool.ask(DescribeGroupsRequest(groups=[self.group]), 5).groups
        if group.group_state == "Empty":
            # Apache forgets an empty group with its last offset, and with it who may join.
            self.tool.ask(self._commit_request(1, number=1), 8)
        topic = OffsetDeleteRequestTopic(
            name=TOPIC, partitions=[OffsetDeleteRequestPartition(partition_index=0)]
        )
        response = self.tool.ask(OffsetDeleteRequest(group_id=self.group, topics=[topic]), 0)
        codes = [_code(each.error_code) for one in response.topics for each in one.partitions]
        return f"{_code(response.error_code)} {codes}"

    def delete_group(self, _: Actor) -> str:
        response = self.tool.ask(DeleteGroupsRequest(groups_names=[self.group]), 2)
        return _code(response.results[0].error_code)

    # Answers

    def _ask(self, actor: Actor, what: str, request: object, version: int) -> str:
        actor.waiting = (what, request, version)
        actor.client.send(request, version)
        return self._answer(actor) if _is_readable(actor, PARKED_AFTER_S) else "parked"

    def _answer(self, actor: Actor) -> str:
        assert actor.waiting is not None
        what, request, version = actor.waiting
        actor.waiting = None
        response = receive(actor.client, request, version)
        told: str = getattr(self, f"_told_{what}")(actor, response)
        return told

    def _told_join(self, actor: Actor, response: Any) -> str:
        code = response.error_code
        if code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            actor.member_id, actor.generation = response.member_id, response.generation_id
            actor.leader = response.leader
            actor.members = tuple(each.member_id for each in response.members)
            if response.skip_assignment:
                actor.members = ()
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            actor.member_id = ""
        # Those that nobody has heard of yet are named in an order that is not the broker's.
        known = sorted(response.members, key=lambda member: bytes(member.metadata))
        members = sorted(self._name(each.member_id) for each in known)
        return (
            f"{_code(code)} {self._name(response.member_id)} {response.generation_id} "
            f"{response.protocol_type} {response.protocol_name} {self._name(response.leader)} "
            f"{members} {response.skip_assignment}"
        )

    def _told_sync(self, actor: Actor, response: Any) -> str:
        return (
            f"{_code(response.error_code)} {response.assignment!r} "
            f"{response.protocol_type} {response.protocol_name}"
        )

    def _told_heartbeat(self, actor: Actor, response: Any) -> str:
        return _code(response.error_code)

    def _told_leave(self, actor: Actor, response: Any) -> str:
        return f"{_code(response.error_code)} {[_code(m.error_code) for m in response.members]}"

    def _told_commit(self, actor: Actor, response: Any) -> str:
        return _code(response.topics[0].partitions[0].error_code)

    def _name(self, member_id: str) -> str:
        return self.names.setdefault(member_id, f"m{len(self.names)}") if member_id else "-"


def _is_readable(actor: Actor, timeout_s: float) -> bool:
    # Not select(): a test process may have more than a thousand descriptors.
    poll = select.poll()
    poll.register(actor.client.socket, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))


def receive(client: WireClient, request: object, version: int) -> Any:
    key = facts_of(type(request)).api_key
    assert key is not None
    frame = client.receive_frame()
    _, position = decode_response_header(frame, key, version)
    response: Any
    response, end = decode(API_BY_KEY[key].response, version, frame, position)
    assert end == len(frame)
    return response


def _code(code: int) -> str:
    return ErrorCode(code).name
