"""How far groups have read: shown, set and forgotten."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from moldau.client.admin.area import AdminArea, by_topic, values_by_topic
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import AtCoordinatorOf
from moldau.client.admin.routing import Answers, Router, failure, outcome
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponseTopic,
)
from moldau.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponseTopic,
)
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

_OFFSET_FETCH = 9
_SINCE_STABLE = 7
_SINCE_SEVERAL = 8
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """What a group has committed for a partition."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


class GroupOffsetsArea(AdminArea):
    """The part of the Admin client for the offsets of groups."""

    async def list_group_offsets(
        self,
        groups: str | Iterable[str] | Mapping[str, Iterable[TopicPartition]],
        *,
        require_stable: bool = False,
    ) -> Outcomes[str, dict[TopicPartition, CommittedOffset]]:
        """What each group has committed: for all partitions, or for those a mapping names.

        Partitions without a commit are left out. With `require_stable` offsets of a
        transaction that is still open are waited for.
        """
        router = self._router
        if isinstance(groups, str):
            groups = [groups]
        wanted: Mapping[str, Iterable[TopicPartition] | None]
        wanted = groups if isinstance(groups, Mapping) else dict.fromkeys(groups)

        async def ask(
            node_id: int, keys: list[str]
        ) -> Answers[str, dict[TopicPartition, CommittedOffset]]:
            versions = (await router.cluster.broker(node_id)).versions
            is_stable = require_stable and versions.newest(_OFFSET_FETCH) >= _SINCE_STABLE
            if len(keys) > 1 and versions.speaks(_OFFSET_FETCH, _SINCE_SEVERAL):
                return await _fetch_several(
                    router, node_id, {key: wanted[key] for key in keys}, is_stable=is_stable
                )
            questions = {key: _question(key, wanted[key], is_stable=is_stable) for key in keys}
            return {key: await _fetch(router, node_id, questions[key]) for key in keys}

        return await router.each(wanted, router.groups, ask)

    async def alter_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, int | CommittedOffset]
    ) -> Outcomes[TopicPartition, None]:
        """Let a group without members go on from these offsets."""
        router = self._router

        async def ask(node_id: int, keys: list[TopicPartition]) -> Answers[TopicPartition, None]:
            request = OffsetCommitRequest(
                group_id=group_id,
                topics=[
                    OffsetCommitRequestTopic(
                        name=topic, partitions=[_commit(*each) for each in partitions]
                    )
                    for topic, partitions in values_by_topic(
                        {key: offsets[key] for key in keys}
                    ).items()
                ],
            )
            answer = await router.cluster.ask(node_id, request, OffsetCommitResponse)
            return _outcomes(answer.topics)

        return await router.each(offsets, AtCoordinatorOf(router.groups, group_id), ask)

    async def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> Outcomes[TopicPartition, None]:
        """Forget how far a group is in partitions that none of its members reads."""
        router = self._router

        async def ask(node_id: int, keys: list[TopicPartition]) -> Answers[TopicPartition, None]:
            request = OffsetDeleteRequest(
                group_id=group_id,
                topics=[
                    OffsetDeleteRequestTopic(
                        name=topic,
                        partitions=[
                            OffsetDeleteRequestPartition(partition_index=each) for each in indexes
                        ],
                    )
                    for topic, indexes in by_topic(keys).items()
                ],
            )
            answer = await router.cluster.ask(node_id, request, OffsetDeleteResponse)
            if answer.error_code:
                return dict.fromkeys(keys, failure(answer.error_code))
            return _outcomes(answer.topics)

        return await router.each(partitions, AtCoordinatorOf(router.groups, group_id), ask)


def _outcomes(
    topics: Sequence[OffsetCommitResponseTopic | OffsetDeleteResponseTopic],
) -> Answers[TopicPartition, None]:
    return {
        TopicPartition(topic.name, each.partition_index): outcome(each.error_code, None)
        for topic in topics
        for each in topic.partitions
    }


def _question(
    group_id: str, partitions: Iterable[TopicPartition] | None, *, is_stable: bool
) -> OffsetFetchRequest:
    topics = None
    if partitions is not None:
        topics = [
            OffsetFetchRequestTopic(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(partitions).items()
        ]
    return OffsetFetchRequest(group_id=group_id, topics=topics, require_stable=is_stable)


async def _fetch(
    router: Router, node_id: int, request: OffsetFetchRequest
) -> dict[TopicPartition, CommittedOffset] | KafkaError:
    answer = await router.cluster.ask(node_id, request, OffsetFetchResponse)
    return _offsets(answer)


async def _fetch_several(
    router: Router,
    node_id: int,
    wanted: Mapping[str, Iterable[TopicPartition] | None],
    *,
    is_stable: bool,
) -> Answers[str, dict[TopicPartition, CommittedOffset]]:
    """Some hundred groups by one request (KIP-709)."""
    found: dict[str, dict[TopicPartition, CommittedOffset] | KafkaError] = {}
    names = list(wanted)
    for start in range(0, len(names), _AT_ONCE):
        groups = [_part(each, wanted[each]) for each in names[start : start + _AT_ONCE]]
        request = OffsetFetchRequest(groups=groups, require_stable=is_stable)
        broker = await router.cluster.broker(node_id)
        answer = await broker.connection.ask(
            *(request, OffsetFetchResponse, _SINCE_SEVERAL), timeout_s=router.cluster.timeout_s
        )
        found |= {each.group_id: _offsets(each) for each in answer.groups}
    return found


def _part(group_id: str, partitions: Iterable[TopicPartition] | None) -> OffsetFetchRequestGroup:
    topics = None
    if partitions is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(partitions).items()
        ]
    return OffsetFetchRequestGroup(group_id=group_id, topics=topics)


def _offsets(
    answer: OffsetFetchResponse | OffsetFetchResponseGroup,
) -> dict[TopicPartition, CommittedOffset] | KafkaError:
    if answer.error_code:
        return failure(answer.error_code)
    found: dict[TopicPartition, CommittedOffset] = {}
    for topic in answer.topics:
        for each in topic.partitions:
            partition = TopicPartition(topic.name, each.partition_index)
            if each.error_code:
                return failure(each.error_code, f"{partition}: {failure(each.error_code)}")
            if each.committed_offset >= 0:
                found[partition] = CommittedOffset(
                    each.committed_offset, each.metadata or "", each.committed_leader_epoch
                )
    return found


def _commit(partition: int, wanted: int | CommittedOffset) -> OffsetCommitRequestPartition:
    offset = CommittedOffset(wanted) if isinstance(wanted, int) else wanted
    return OffsetCommitRequestPartition(
        partition_index=partition,
        committed_offset=offset.offset,
        committed_leader_epoch=offset.leader_epoch,
        committed_metadata=offset.metadata,
    )
