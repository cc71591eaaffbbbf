"""Whether what was read is still there when a partition has a new leader (KIP-320).

After an unclean election a log may be shorter than before, and go on with other records. What
shows it is where the epoch of the last record read ends in the leader's log: if before the
position, the records in between were read, and are gone.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Self

from moldau.client.connection.cluster import Cluster
from moldau.client.consumer.assignment import Assigned, Assignment
from moldau.errors import ErrorCode, KafkaError, OffsetOutOfRange
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

_log = logging.getLogger(__name__)

_OFFSET_FOR_LEADER_EPOCH = 23
_SINCE_CONSUMERS = 3  # older versions are for brokers only
_CONSUMER = -1
_UNKNOWN_OFFSET = -1


class LogTruncated(OffsetOutOfRange):
    """Records that were read are not in the log any more; `sound_offset` is where it differs.

    It is -1 if the leader does not know the epoch of what was read.
    """

    def __init__(self, partition: TopicPartition, position: int, sound_offset: int) -> None:
        where = (
            f"from offset {sound_offset} on" if sound_offset >= 0 else "from an unknown offset on"
        )
        reason = f"{partition} was read to offset {position}, but its log differs {where}"
        super().__init__(ErrorCode.OFFSET_OUT_OF_RANGE, f"{reason}: seek to where to go on")
        self.partition = partition
        self.sound_offset = sound_offset

    def __new__(cls, *_: object) -> Self:
        return super().__new__(cls, ErrorCode.OFFSET_OUT_OF_RANGE)

    def __reduce__(self) -> tuple[type[KafkaError], tuple[ErrorCode, str]]:
        return KafkaError, (self.code, str(self))


class Truncation:
    """Checks positions against the leader whenever there is a new one."""

    def __init__(self, cluster: Cluster, assignment: Assignment, policy: str) -> None:
        self._cluster = cluster
        self._assignment = assignment
        self._has_policy = policy != "none"

    def is_due(self, assigned: Assigned) -> bool:
        """Whether a position has to be checked before more is fetched.

        A partition of which nothing was read yet has nothing to check.
        """
        is_new = self._leader_epoch(assigned) > assigned.validated_epoch
        return is_new and assigned.position is not None and assigned.fetched_epoch >= 0

    def due(self) -> list[Assigned]:
        """All that have to be checked."""
        return [each for each in self._assignment if self.is_due(each)]

    async def check(self, due: Iterable[Assigned]) -> None:
        """Ask the leaders; LogTruncated if something is gone and no policy says what then."""
        by_leader: dict[int, list[Assigned]] = {}
        for assigned in due:
            leader = self._cluster.metadata.leader_of(assigned.partition)
            if leader is not None:
                by_leader.setdefault(leader, []).append(assigned)
        for leader, unsure in by_leader.items():
            await self._ask(leader, unsure)

    async def _ask(self, leader: int, unsure: list[Assigned]) -> None:
        epochs = {each.partition: self._leader_epoch(each) for each in unsure}
        versions = {each.partition: each.version for each in unsure}
        broker = await self._cluster.broker(leader)
        if broker.versions.newest_or(_OFFSET_FOR_LEADER_EPOCH, 0) < _SINCE_CONSUMERS:
            for each in unsure:
                each.validated_epoch = epochs[each.partition]
            return
        answer = await self._cluster.ask(
            leader, _request(unsure, epochs), OffsetForLeaderEpochResponse
        )
        for topic in answer.topics:
            for end in topic.partitions:
                partition = TopicPartition(topic.topic, end.partition)
                assigned = self._assignment.get(partition, versions[partition])
                if assigned is not None:
                    self._judge(assigned, end, epochs[partition])

    def _judge(self, assigned: Assigned, end: EpochEndOffset, leader_epoch: int) -> None:
        position = assigned.position
        assert position is not None, "only positions are checked"
        if end.error_code:
            code = ErrorCode(end.error_code)
            self._cluster.metadata.doubt(assigned.partition)
            raise KafkaError(code, f"{assigned.partition}: {code.name}")
        if end.end_offset == _UNKNOWN_OFFSET:
            self._truncated(assigned, position, _UNKNOWN_OFFSET)
        elif end.end_offset < position:
            self._truncated(assigned, position, end.end_offset)
            assigned.seek(end.end_offset, end.leader_epoch)
        elif end.end_offset < assigned.fetch_offset:  # what is gone was not handed out
            assigned.seek(position, end.leader_epoch)
        assigned.validated_epoch = leader_epoch

    def _truncated(self, assigned: Assigned, position: int, sound_offset: int) -> None:
        error = LogTruncated(assigned.partition, position, sound_offset)
        if not self._has_policy:
            raise error
        _log.warning("%s", error)
        if sound_offset == _UNKNOWN_OFFSET:
            assigned.lose_position()

    def _leader_epoch(self, assigned: Assigned) -> int:
        return self._cluster.metadata.leader_epoch_of(assigned.partition)


def _request(
    unsure: Iterable[Assigned], leader_epochs: Mapping[TopicPartition, int]
) -> OffsetForLeaderEpochRequest:
    topics: dict[str, list[OffsetForLeaderPartition]] = {}
    for each in unsure:
        topics.setdefault(each.partition.topic, []).append(
            OffsetForLeaderPartition(
                partition=each.partition.partition,
                current_leader_epoch=leader_epochs[each.partition],
                leader_epoch=each.fetched_epoch,
            )
        )
    return OffsetForLeaderEpochRequest(
        replica_id=_CONSUMER,
        topics=[OffsetForLeaderTopic(topic=name, partitions=each) for name, each in topics.items()],
    )
