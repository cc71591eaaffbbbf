"""The same heartbeats to any broker, and what it says, in words that compare.

Members bring their ids, and ask for the range assignor: then brokers have no choice. Topics
are told by their names, since ids differ from broker to broker.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from moldau.errors import ErrorCode
from moldau.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from moldau.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from moldau.protocol.messages.delete_groups import DeleteGroupsRequest
from moldau.protocol.messages.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.list_groups import ListGroupsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
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
from moldau.testing.wire import WireClient

TOPICS = {"one": 3, "two": 2}
SUBSCRIPTIONS = (["one"], ["one", "two"], ["two", "absent"])
ACTIONS = (
    *("join",) * 6,
    *("beat",) * 4,
    *("acknowledge",) * 8,
    *("full",) * 3,
    *("commit", "fetch", "describe") * 2,
    *("subscribe", "leave", "pause", "stale", "early", "restart", "fenced", "again"),
    *("faulty", "delete_offsets", "delete", "classic_describe", "list_groups", "simple"),
)
FAULTS: tuple[Mapping[str, object], ...] = (
    {"rebalance_timeout_ms": -1},
    {"topic_partitions": None},
    {"subscribed_topic_names": None},
    {"subscribed_topic_names": []},
    {"server_assignor": "mine"},
    {"instance_id": ""},
    {"rack_id": ""},
    {"member_epoch": -3},
    {"member_epoch": 1, "member_id": ""},
    {"member_epoch": -2, "instance_id": None},
    {"group_id": ""},
)


@dataclass
class Actor:
    """A member, and what it believes."""

    name: str
    instance_id: str | None = None
    life: int = 0
    epoch: int = 0
    has: dict[bytes, list[int]] = field(default_factory=dict)
    told: dict[bytes, list[int]] = field(default_factory=dict)
    topics: list[str] = field(default_factory=lambda: SUBSCRIPTIONS[0])

    @property
    def member_id(self) -> str:
        return f"{self.name}{self.life}"


@dataclass
class ConsumerTwin:
    """One of the brokers, and the members that talk to it."""

    bootstrap: str
    group: str

    def __post_init__(self) -> None:
        self.client = WireClient(self.bootstrap, client_id="twin")
        self.actors = [Actor("a"), Actor("b"), Actor("s", "static"), Actor("z", "static")]
        while self.client.ask(FindCoordinatorRequest(key=self.group), 2).error_code:
            pass
        fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=self.group, topics=[])])
        while self.client.ask(fetch, 8).groups[0].error_code:
            pass
        self.names: dict[bytes, str] = {}
        self.learn_topics(*TOPICS)

    def learn_topics(self, *names: str) -> None:
        """Wait until topics are there, and know them by their ids."""
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
        while any(topic.error_code for topic in self.client.ask(asked, 12).topics):
            continue
        self.names |= {topic.topic_id: topic.name for topic in self.client.ask(asked, 12).topics}

    def close(self) -> None:
        self.client.close()

    def play(self, seed: int, steps: int) -> Iterator[str]:
        """What comes of each step."""
        source = random.Random(seed)
        for _ in range(steps):
            action, actor = source.choice(ACTIONS), source.choice(self.actors)
            if action in ("beat", "acknowledge", "full") and actor.epoch <= 0:
                action = "join"
            yield f"{action} {actor.member_id}: {getattr(self, action)(actor, source)}"

    # What members say

    def join(self, actor: Actor, _: random.Random) -> str:
        actor.has, actor.told = {}, {}
        return self._beat(actor, self._request(actor, epoch=0, is_full=True))

    def beat(self, actor: Actor, _: random.Random) -> str:
        return self._beat(actor, self._request(actor, epoch=actor.epoch))

    def acknowledge(self, actor: Actor, _: random.Random) -> str:
        """Give up and take what was told."""
        actor.has = actor.told
        request = self._request(actor, epoch=actor.epoch)
        request.topic_partitions = _listed(actor.has)
        return self._beat(actor, request)

    def full(self, actor: Actor, _: random.Random) -> str:
        return self._beat(actor, self._request(actor, epoch=actor.epoch, is_full=True))

    def subscribe(self, actor: Actor, source: random.Random) -> str:
        actor.topics = source.choice(SUBSCRIPTIONS)
        request = self._request(actor, epoch=actor.epoch)
        request.subscribed_topic_names = list(actor.topics)
        return self._beat(actor, request)

    def stale(self, actor: Actor, _: random.Random) -> str:
        request = self._request(actor, epoch=max(actor.epoch - 1, 1))
        request.topic_partitions = _listed(actor.has)
        return self._beat(actor, request)

    def early(self, actor: Actor, _: random.Random) -> str:
        return self._beat(actor, self._request(actor, epoch=actor.epoch + 1))

    def again(self, actor: Actor, _: random.Random) -> str:
        """Say the same with other words: a rack."""
        request = self._request(actor, epoch=actor.epoch)
        request.rack_id = "rack"
        return self._beat(actor, request)

    def leave(self, actor: Actor, _: random.Random) -> str:
        return self._beat(actor, self._request(actor, epoch=-1))

    def pause(self, actor: Actor, _: random.Random) -> str:
        return self._beat(actor, self._request(actor, epoch=-2))

    def restart(self, actor: Actor, _: random.Random) -> str:
        actor.life += 1
        actor.epoch = 0
        return "another id"

    def fenced(self, actor: Actor, _: random.Random) -> str:
        request = self._request(actor, epoch=actor.epoch)
        request.member_id = "somebody-else"
        return self._beat(actor, request)

    def faulty(self, actor: Actor, source: random.Random) -> str:
        request = self._request(actor, epoch=0, is_full=True)
        fault = source.choice(FAULTS)
        for name, value in fault.items():
            setattr(request, name, value)
        return f"{fault} {self._beat(actor, request)}"

    def _request(
        self, actor: Actor, *, epoch: int, is_full: bool = False
    ) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=actor.member_id,
            member_epoch=epoch,
            instance_id=actor.instance_id,
        )
        if is_full:
            request.rebalance_timeout_ms = 60_000
            request.subscribed_topic_names = list(actor.topics)
            request.server_assignor = "range"
            request.topic_partitions = _listed(actor.has)
        return request

    def _beat(self, actor: Actor, request: ConsumerGroupHeartbeatRequest) -> str:
        response = self.client.ask(request, 0)
        if response.error_code:
            return ErrorCode(response.error_code).name
        if response.member_id == actor.member_id and request.member_epoch >= 0:
            actor.epoch = response.member_epoch
        assignment = "-"
        if response.assignment is not None:
            listed = response.assignment.topic_partitions
            actor.told = {each.topic_id: sorted(each.partitions) for each in listed}
            assignment = self._named(listed)
        return f"{response.member_id} {response.member_epoch} {assignment}"

    # Offsets

    def commit(self, actor: Actor, _: random.Random) -> str:
        request = self._commit_request(actor.epoch * 10)
        request.member_id = actor.member_id
        request.generation_id_or_member_epoch = actor.epoch
        request.group_instance_id = actor.instance_id
        code = _code(self.client.ask(request, 9).topics[0].partitions[0].error_code)
        # A group that is gone: the classic coordinator of 3.9 says the one, the new one the
        # other. We say what older clients understand.
        return "NO GROUP" if code in ("ILLEGAL_GENERATION", "GROUP_ID_NOT_FOUND") else code

    def simple(self, _: Actor, __: random.Random) -> str:
        response = self.client.ask(self._commit_request(7), 9)
        return _code(response.topics[0].partitions[0].error_code)

    def _commit_request(self, offset: int) -> OffsetCommitRequest:
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata="m"
        )
        topic = OffsetCommitRequestTopic(name="one", partitions=[partition])
        return OffsetCommitRequest(group_id=self.group, topics=[topic])

    def fetch(self, actor: Actor, _: random.Random) -> str:
        group = OffsetFetchRequestGroup(
            group_id=self.group, member_id=actor.member_id, member_epoch=actor.epoch, topics=None
        )
        (found,) = self.client.ask(OffsetFetchRequest(groups=[group]), 9).groups
        offsets = [
            (topic.name, each.partition_index, each.committed_offset)
            for topic in found.topics
            for each in topic.partitions
        ]
        return f"{_code(found.error_code)} {offsets}"

    def delete_offsets(self, _: Actor, __: random.Random) -> str:
        topic = OffsetDeleteRequestTopic(
            name="one", partitions=[OffsetDeleteRequestPartition(partition_index=0)]
        )
        response = self.client.ask(OffsetDeleteRequest(group_id=self.group, topics=[topic]), 0)
        codes = [_code(each.error_code) for one in response.topics for each in one.partitions]
        return f"{_code(response.error_code)} {codes}"

    # Tools

    def describe(self, _: Actor, __: random.Random) -> str:
        request = ConsumerGroupDescribeRequest(
            group_ids=[self.group], include_authorized_operations=True
        )
        (group,) = self.client.ask(request, 0).groups
        members = sorted(
            f"{each.member_id} {each.instance_id} {each.rack_id} {each.member_epoch} "
            f"{each.client_id} {each.client_host} {sorted(each.subscribed_topic_names)} "
            f"{each.subscribed_topic_regex!r} {self._named(each.assignment.topic_partitions)} "
            f"{self._named(each.target_assignment.topic_partitions)}"
            for each in group.members
        )
        return (
            f"{_code(group.error_code)} {group.group_state} "
            f"{group.group_epoch} {group.assignment_epoch} {group.assignor_name} "
            f"{group.authorized_operations} {members}"
        )

    def classic_describe(self, _: Actor, __: random.Random) -> str:
        (group,) = self.client.ask(DescribeGroupsRequest(groups=[self.group]), 5).groups
        return f"{_code(group.error_code)} {group.group_state} {len(group.members)}"

    def list_groups(self, _: Actor, __: random.Random) -> str:
        groups = self.client.ask(ListGroupsRequest(), 5).groups
        return str(
            [
                (each.protocol_type, each.group_state, each.group_type)
                for each in groups
                if each.group_id == self.group
            ]
        )

    def delete(self, _: Actor, __: random.Random) -> str:
        (result,) = self.client.ask(DeleteGroupsRequest(groups_names=[self.group]), 2).results
        return _code(result.error_code)

    def _named(self, listed: list[Any]) -> str:
        return str(sorted((self.names[each.topic_id], sorted(each.partitions)) for each in listed))


def _listed(partitions: Mapping[bytes, list[int]]) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id=topic_id, partitions=numbers)
        for topic_id, numbers in partitions.items()
    ]


def _code(code: int) -> str:
    return ErrorCode(code).name
