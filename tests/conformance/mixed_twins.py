"""Members of both protocols in one group, at any broker: it changes its protocol under them.

The classic ones are static, so that brokers cannot choose who comes first. Whoever leads the
group while it is classic takes everything. A request without an answer within a moment counts
as parked, as in `group_twins`.
"""

import random
import re
import select
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.consumer_twins import SUBSCRIPTIONS, TOPICS, Actor, ConsumerTwin
from conformance.group_twins import PARKED_AFTER_S, receive
from moldau.errors import ErrorCode
from moldau.protocol.codec import decode
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from moldau.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from moldau.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from moldau.protocol.versioned import encode_versioned
from moldau.testing.wire import WireClient

CLASSIC_ACTIONS = (
    *("classic_join",) * 5,
    *("classic_sync",) * 4,
    *("classic_heartbeat",) * 3,
    *("classic_commit", "classic_leave", "classic_restart", "send_away"),
)
ACTIONS = (
    *("join",) * 3,
    *("acknowledge",) * 6,
    *("full", "beat", "leave", "commit", "describe", "classic_describe", "list_groups"),
)


@dataclass
class Classic:
    """A member of the classic protocol with a connection of its own."""

    client: WireClient
    instance_id: str
    member_id: str = ""
    generation: int = -1
    members: tuple[str, ...] = ()
    topics: list[str] = field(default_factory=lambda: SUBSCRIPTIONS[0])
    owned: list[TopicPartition] = field(default_factory=list)
    waiting: tuple[str, object, int] | None = None


class MixedTwin(ConsumerTwin):
    """One of the brokers, and the members of both kinds that talk to it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.actors = self.actors[:1]
        self.classics = [Classic(WireClient(self.bootstrap), name) for name in ("k1", "k2")]

    def close(self) -> None:
        super().close()
        for actor in self.classics:
            actor.client.close()

    def play(self, seed: int, steps: int) -> Iterator[str]:
        """What comes of each step."""
        source = random.Random(seed)
        for _ in range(steps):
            if source.random() < 0.4:
                action, actor = source.choice(ACTIONS), source.choice(self.actors)
                if action in ("beat", "acknowledge", "full") and actor.epoch <= 0:
                    action = "join"
                yield f"{action} {actor.member_id}: {getattr(self, action)(actor, source)}"
            else:
                name, index = source.choice(CLASSIC_ACTIONS), source.randrange(2)
                classic = self.classics[index]
                if classic.waiting is None:
                    yield f"{name} {index}: {getattr(self, name)(classic)}"
            for index, each in enumerate(self.classics):
                if each.waiting is not None and _is_readable(each):
                    yield f"  {each.waiting[0]} {index}: {self._answer(each)}"

    def join(self, actor: Actor, source: random.Random) -> str:
        """Apache 3.9 cannot change the protocol of a group that is between two assignments."""
        listed = self.list_groups(actor, source)
        if "Rebalance" in listed:
            return f"not now: {listed}"
        return super().join(actor, source)

    def leave(self, actor: Actor, source: random.Random) -> str:
        """Whom Apache lets lead two classic members that stay is chance."""
        if all(each.member_id for each in self.classics):
            return "not now"
        return super().leave(actor, source)

    # Requests of classic members

    def classic_join(self, actor: Classic) -> str:
        subscription = ConsumerProtocolSubscription(
            topics=list(actor.topics), owned_partitions=actor.owned
        )
        metadata = encode_versioned(subscription, 1)
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=60_000,
            member_id=actor.member_id,
            group_instance_id=actor.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )
        return self._ask(actor, "join", request, 9)

    def classic_sync(self, actor: Classic) -> str:
        everything = [
            TopicPartition(topic=name, partitions=list(range(count)))
            for name, count in TOPICS.items()
        ]
        assignments = [
            SyncGroupRequestAssignment(
                member_id=each,
                assignment=encode_versioned(
                    ConsumerProtocolAssignment(
                        assigned_partitions=everything if each == actor.member_id else []
                    ),
                    1,
                ),
            )
            for each in actor.members
        ]
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=actor.generation,
            member_id=actor.member_id,
            group_instance_id=actor.instance_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=assignments,
        )
        return self._ask(actor, "sync", request, 5)

    def classic_heartbeat(self, actor: Classic) -> str:
        request = HeartbeatRequest(
            group_id=self.group,
            generation_id=actor.generation,
            member_id=actor.member_id,
            group_instance_id=actor.instance_id,
        )
        return self._ask(actor, "heartbeat", request, 4)

    def classic_commit(self, actor: Classic) -> str:
        request = self._commit_request(actor.generation * 10)
        request.member_id = actor.member_id
        request.generation_id_or_member_epoch = actor.generation
        request.group_instance_id = actor.instance_id
        return self._ask(actor, "commit", request, 8)

    def classic_leave(self, actor: Classic) -> str:
        return self._leave(actor, actor.member_id)

    def send_away(self, actor: Classic) -> str:
        return self._leave(actor, "")

    def _leave(self, actor: Classic, member_id: str) -> str:
        member = MemberIdentity(member_id=member_id, group_instance_id=actor.instance_id)
        return self._ask(
            actor, "leave", LeaveGroupRequest(group_id=self.group, members=[member]), 5
        )

    def classic_restart(self, actor: Classic) -> str:
        actor.member_id, actor.owned = "", []
        return "without id"

    # Answers

    def _ask(self, actor: Classic, what: str, request: object, version: int) -> str:
        actor.waiting = (what, request, version)
        actor.client.send(request, version)
        return self._answer(actor) if _is_readable(actor) else "parked"

    def _answer(self, actor: Classic) -> str:
        assert actor.waiting is not None
        what, request, version = actor.waiting
        actor.waiting = None
        told: str = getattr(self, f"_told_{what}")(actor, receive(actor.client, request, version))
        return told

    def _told_join(self, actor: Classic, response: Any) -> str:
        code = response.error_code
        if code == ErrorCode.NONE:
            actor.member_id, actor.generation = response.member_id, response.generation_id
            actor.members = tuple(each.member_id for each in response.members)
            if response.skip_assignment:
                actor.members = ()
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            actor.member_id = ""
        return (
            f"{ErrorCode(code).name} {response.generation_id} {response.protocol_type} "
            f"{response.protocol_name} {len(response.members)} {response.skip_assignment}"
        )

    def _told_sync(self, actor: Classic, response: Any) -> str:
        listed: list[TopicPartition] = []
        if response.assignment:
            assignment, _ = decode(ConsumerProtocolAssignment, 0, response.assignment, 2)
            listed = assignment.assigned_partitions
        if response.error_code == ErrorCode.NONE:
            actor.owned = listed
        named = sorted((each.topic, sorted(each.partitions)) for each in listed)
        return (
            f"{ErrorCode(response.error_code).name} {named} "
            f"{response.protocol_type} {response.protocol_name}"
        )

    def _told_heartbeat(self, _: Classic, response: Any) -> str:
        return ErrorCode(response.error_code).name

    def _told_leave(self, _: Classic, response: Any) -> str:
        codes = [ErrorCode(each.error_code).name for each in response.members]
        return f"{ErrorCode(response.error_code).name} {codes}"

    def _told_commit(self, _: Classic, response: Any) -> str:
        return ErrorCode(response.topics[0].partitions[0].error_code).name

    def describe(self, actor: Any, source: random.Random) -> str:
        """Ids of classic members differ from broker to broker: they are told by their instances."""
        group, bracket, members = super().describe(actor, source).partition("[")
        named = (re.sub(r"\S+ (k\d)", r"\1", each) for each in members.split('"'))
        return group + bracket + " ".join(sorted(named))


def _is_readable(actor: Classic) -> bool:
    # Not select(): a test process may have more than a thousand descriptors.
    poll = select.poll()
    poll.register(actor.client.socket, select.POLLIN)
    return bool(poll.poll(PARKED_AFTER_S * 1000))
