"""Finds offsets: the ends of logs, and records by time."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from moldau.client.cluster import Cluster
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

LATEST = -1
EARLIEST = -2
CONSUMER = -1


class FoundOffset(NamedTuple):
    """What a broker answered; the offset is -1 if there is no record so late."""

    offset: int
    timestamp: int


class OffsetLookup:
    """Asks the leaders, again and elsewhere if they have changed."""

    def __init__(self, cluster: Cluster, *, is_committed_only: bool) -> None:
        self._cluster = cluster
        self._isolation_level = int(is_committed_only)

    async def find(self, times: Mapping[TopicPartition, int]) -> dict[TopicPartition, FoundOffset]:
        """The offset for each time; RequestTimedOut says for which there was no answer."""
        found: dict[TopicPartition, FoundOffset] = {}
        last_error: KafkaError | None = None
        try:
            async with asyncio.timeout(self._cluster.timeout_s):
                while missing := {each: at for each, at in times.items() if each not in found}:
                    try:
                        await self._ask_leaders(missing, found)
                    except KafkaError as error:
                        if not error.is_retriable:
                            raise
                        last_error = error
                        await self._cluster.back_off()
        except TimeoutError:
            names = ", ".join(str(each) for each in times if each not in found)
            reason = f"no offsets for {names}: {last_error or 'no leader answered'}"
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason) from None
        return found

    async def _ask_leaders(
        self,
        times: Mapping[TopicPartition, int],
        found: dict[TopicPartition, FoundOffset],
    ) -> None:
        metadata = self._cluster.metadata
        for topic in dict.fromkeys(partition.topic for partition in times):
            await self._cluster.wait_for_topic(topic, timeout_s=self._cluster.timeout_s)
        await self._cluster.refresh_if_stale()
        by_leader: dict[int, dict[TopicPartition, int]] = {}
        for partition, at in times.items():
            leader = metadata.leader_of(partition)
            if leader is None:
                metadata.doubt(partition)
                raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader")
            by_leader.setdefault(leader, {})[partition] = at
        for leader, asked in by_leader.items():
            try:
                answer = await self._cluster.ask(leader, self._request(asked), ListOffsetsResponse)
                _read(answer, found)
            except KafkaError as error:
                if error.is_stale_metadata:
                    for partition in asked:
                        metadata.doubt(partition)
                raise

    def _request(self, times: Mapping[TopicPartition, int]) -> ListOffsetsRequest:
        topics: dict[str, list[ListOffsetsPartition]] = {}
        for (topic, partition), at in times.items():
            topics.setdefault(topic, []).append(
                ListOffsetsPartition(partition_index=partition, timestamp=at)
            )
        return ListOffsetsRequest(
            replica_id=CONSUMER,
            isolation_level=self._isolation_level,
            topics=[ListOffsetsTopic(name=name, partitions=each) for name, each in topics.items()],
        )


def _read(answer: ListOffsetsResponse, found: dict[TopicPartition, FoundOffset]) -> None:
    for topic in answer.topics:
        for each in topic.partitions:
            partition = TopicPartition(topic.name, each.partition_index)
            if each.error_code:
                code = ErrorCode(each.error_code)
                raise KafkaError(code, f"{partition}: {code.name}")
            # Before 0.10.1 a broker names the beginnings of log segments, the latest first.
            older = each.old_style_offsets[:1]
            found[partition] = FoundOffset(older[0] if older else each.offset, each.timestamp)
