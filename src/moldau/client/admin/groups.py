"""Groups: listed, described and deleted, and members sent away."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moldau.client.admin.area import AdminArea, names
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.routing import Answers, Router, failure, outcome
from moldau.client.group.consumer_bytes import decode_assignment
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.messages import consumer_group_describe, describe_groups
from moldau.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from moldau.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from moldau.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from moldau.security.acls import Operation, operations_of

CLASSIC = "classic"
CONSUMER = "consumer"
_CONSUMER_PROTOCOL = "consumer"
_DESCRIBE_GROUPS = 15
_SINCE_OPERATIONS = 3
_CONSUMER_GROUP_DESCRIBE = 69
_NOT_OF_THE_NEW_KIND = (
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNSUPPORTED_VERSION,
)


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group that there is; state and type are empty where old brokers do not say."""

    group_id: str
    protocol_type: str
    state: str
    group_type: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """A member of a group. An epoch and a target exist with the new protocol only."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: list[TopicPartition]
    target_assignment: list[TopicPartition] | None = None
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group with its members."""

    group_id: str
    group_type: str
    protocol_type: str
    state: str
    assignor: str
    coordinator: int
    members: list[MemberDescription]
    authorized_operations: frozenset[Operation] | None


@dataclass(frozen=True, slots=True)
class LeavingMember:
    """A member to be removed: a static one by its instance id, else by its member id."""

    member_id: str = ""
    instance_id: str | None = None


class GroupsArea(AdminArea):
    """The part of the Admin client for groups."""

    async def list_groups(
        self, *, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> list[GroupListing]:
        """The groups of all brokers, of these states and types if any are named."""
        found = await self.list_groups_by_broker(states=states, types=types)
        listings = {each.group_id: each for listed in found.values() for each in listed}
        return [listings[group_id] for group_id in sorted(listings)]

    async def list_groups_by_broker(
        self, *, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> Outcomes[int, list[GroupListing]]:
        """As `list_groups`, for callers that go on without the groups of silent brokers."""
        router = self._router
        request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))

        async def ask(node_id: int, keys: list[int]) -> Answers[int, list[GroupListing]]:
            answer = await router.cluster.ask(node_id, request, ListGroupsResponse)
            listed = [
                GroupListing(
                    each.group_id, each.protocol_type, each.group_state, each.group_type, node_id
                )
                for each in answer.groups
            ]
            return dict.fromkeys(keys, outcome(answer.error_code, listed))

        return await router.each(await router.all_brokers(), router.brokers, ask)

    async def describe_groups(
        self, group_ids: str | Iterable[str]
    ) -> Outcomes[str, GroupDescription]:
        """State and members of groups; one that does not exist has the state Dead."""
        router = self._router

        async def ask(node_id: int, keys: list[str]) -> Answers[str, GroupDescription]:
            found = dict(await _describe_new(router, node_id, keys))
            rest = [key for key in keys if key not in found]
            if rest:
                found.update(await _describe_classic(router, node_id, rest))
            return found

        return await router.each(names(group_ids), router.groups, ask)

    async def delete_groups(self, group_ids: str | Iterable[str]) -> Outcomes[str, None]:
        """Delete groups that have no members, with their offsets."""
        router = self._router

        async def ask(node_id: int, keys: list[str]) -> Answers[str, None]:
            request = DeleteGroupsRequest(groups_names=keys)
            answer = await router.cluster.ask(node_id, request, DeleteGroupsResponse)
            return {each.group_id: outcome(each.error_code, None) for each in answer.results}

        return await router.each(names(group_ids), router.groups, ask)

    async def remove_group_members(
        self, group_id: str, members: Iterable[LeavingMember] | None = None
    ) -> Outcomes[LeavingMember, None]:
        """Send members away, all of them if none are named; they may join again."""
        router = self._router
        if members is None:
            description = (await self.describe_groups(group_id))[group_id]
            members = [
                LeavingMember("" if each.instance_id else each.member_id, each.instance_id)
                for each in description.members
            ]
        leaving = list(members)
        if not leaving:
            return Outcomes({})
        request = LeaveGroupRequest(
            group_id=group_id,
            members=[
                MemberIdentity(member_id=each.member_id, group_instance_id=each.instance_id)
                for each in leaving
            ],
        )
        answer = await router.one(group_id, router.groups, request, LeaveGroupResponse)
        return Outcomes(
            {
                asked: outcome(each.error_code, None)
                for asked, each in zip(leaving, answer.members, strict=True)
            }
        )


async def _describe_new(
    router: Router, node_id: int, keys: list[str]
) -> Answers[str, GroupDescription]:
    """Groups of the new protocol (KIP-848); those that are of another kind are left out."""
    broker = await router.cluster.broker(node_id)
    if not broker.versions.has(_CONSUMER_GROUP_DESCRIBE):
        return {}
    request = consumer_group_describe.ConsumerGroupDescribeRequest(
        group_ids=keys, include_authorized_operations=True
    )
    response = consumer_group_describe.ConsumerGroupDescribeResponse
    answer = await router.cluster.ask(node_id, request, response)
    return {
        each.group_id: outcome(each.error_code, _new_group(each, node_id), each.error_message)
        for each in answer.groups
        if each.error_code not in _NOT_OF_THE_NEW_KIND
    }


async def _describe_classic(
    router: Router, node_id: int, keys: list[str]
) -> Answers[str, GroupDescription]:
    version = (await router.cluster.broker(node_id)).versions.newest(_DESCRIBE_GROUPS)
    request = describe_groups.DescribeGroupsRequest(
        groups=keys, include_authorized_operations=version >= _SINCE_OPERATIONS
    )
    answer = await router.cluster.ask(node_id, request, describe_groups.DescribeGroupsResponse)
    return {each.group_id: _classic_group(each, node_id) for each in answer.groups}


def _classic_group(
    group: describe_groups.DescribedGroup, node_id: int
) -> GroupDescription | KafkaError:
    if group.error_code:
        return failure(group.error_code)
    is_consumers = group.protocol_type == _CONSUMER_PROTOCOL
    return GroupDescription(
        group.group_id,
        CLASSIC,
        group.protocol_type,
        group.group_state,
        group.protocol_data,
        node_id,
        [
            MemberDescription(
                each.member_id,
                each.group_instance_id,
                each.client_id,
                each.client_host,
                _assigned(each.member_assignment) if is_consumers else [],
            )
            for each in group.members
        ],
        operations_of(group.authorized_operations),
    )


def _new_group(group: consumer_group_describe.DescribedGroup, node_id: int) -> GroupDescription:
    return GroupDescription(
        group.group_id,
        CONSUMER,
        _CONSUMER_PROTOCOL,
        group.group_state,
        group.assignor_name,
        node_id,
        [
            MemberDescription(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.client_host,
                _partitions(each.assignment.topic_partitions),
                _partitions(each.target_assignment.topic_partitions),
                each.member_epoch,
            )
            for each in group.members
        ],
        operations_of(group.authorized_operations),
    )


def _assigned(data: bytes) -> list[TopicPartition]:
    try:
        return decode_assignment(data)
    except ProtocolError:  # members may exchange what they like
        return []


def _partitions(
    topics: Sequence[consumer_group_describe.TopicPartitions],
) -> list[TopicPartition]:
    return [
        TopicPartition(each.topic_name, partition)
        for each in topics
        for partition in each.partitions
    ]
