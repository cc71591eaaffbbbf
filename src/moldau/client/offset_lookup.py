"""Finds offsets: the ends of logs, and records by time."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from moldau.client.connection.cluster import Cluster
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


Findings = tuple[dict[TopicPartition, FoundOffset], KafkaError | None]
"""Offsets, and why some are missing."""


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
            async with asyncio.timeout(self._cluster.api_timeout_s):
                while missing := {each: at for each, at in times.items() if each not in found}:
                    some, last_error = await self.find_some(missing)
                    found |= some
                    if last_error is not None:
                        await self._cluster.back_off()
        except TimeoutError:
            names = ", ".join(str(each) for each in times if each not in found)
            reason = f"no offsets for {names}: {last_error or 'no leader answered'}"
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason) from None
        return found

    async def find_some(self, times: Mapping[TopicPartition, int]) -> Findings:
        """What is found at once, and what another try could be worth for the rest."""
        metadata = self._cluster.metadata
        found: dict[TopicPartition, FoundOffset] = {}
        failure: KafkaError | None = None
        by_leader: dict[int, dict[TopicPartition, int]] = {}
        try:
            absent = await self._cluster.missing({partition.topic for partition in times})
            await self._cluster.refresh_if_stale()
        except KafkaError as error:
            return found, _retriable(error)
        for partition, at in times.items():
            leader = metadata.leader_of(partition)
            if leader is not None:
                by_leader.setdefault(leader, {})[partition] = at
                continue
            metadata.doubt(partition)
            is_absent = partition.topic in absent
            reason = f"topic {partition.topic} was not found" if is_absent else "has no leader"
            failure = KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{partition}: {reason}")
        for leader, asked in by_leader.items():
            try:
                answer = await self._cluster.ask(leader, self._request(asked), ListOffsetsResponse)
                _read(answer, found)
            except KafkaError as error:
                failure = _retriable(error)
                if error.is_stale_metadata:
                    for partition in asked:
                        metadata.doubt(partition)
        return found, failure

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


def _retriable(error: KafkaError) -> KafkaError:
    """The error, if the same may succeed later; else it is raised."""
    if not error.is_retriable:
        raise error
    return error


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
