"""The offsets that a group has committed: stored and looked up."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from moldau.client.consumer.fetch_session import ReadPosition
from moldau.client.group.coordinator import Coordinator
from moldau.client.group.membership import Membership, Remedy
from moldau.client.settings import ConsumerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
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

_OFFSET_FETCH = 9
_SINCE_STABLE = 7

Result = TypeVar("Result")


class CommittedOffsets:
    """Commits as the member that this consumer is, and looks up what was committed before."""

    def __init__(
        self, coordinator: Coordinator, membership: Membership, instance_id: str | None
    ) -> None:
        settings = coordinator.cluster.settings
        assert isinstance(settings, ConsumerSettings)
        # Offsets that a transaction may still commit are waited for: else the next owner
        # would read again what the transaction has dealt with (KIP-447).
        self._is_committed_only = settings.isolation_level == "read_committed"
        self._coordinator = coordinator
        self._membership = membership
        self._instance_id = instance_id
        self.commit_count = 0
        self.renew: Callable[[], Awaitable[None]] | None = None
        """Learns the member's epoch, in the protocol that has one (KIP-848)."""
        self.epoch_at: Callable[[TopicPartition, int], int] = lambda _partition, _offset: -1
        """The leader epoch of the record before an offset, -1 if it is not known (KIP-320)."""

    async def commit(
        self, offsets: Mapping[TopicPartition, int], timeout_s: float | None = None
    ) -> None:
        """Store offsets; RebalanceInProgress and its like say that others read on by now."""
        if offsets:
            await self._try(lambda: self._commit(offsets), timeout_s)
            self.commit_count += 1

    async def fetch(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """What is committed; partitions without a commit are left out."""
        places = await self.fetch_places(partitions)
        return {partition: place.offset for partition, place in places.items()}

    async def fetch_places(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ReadPosition]:
        """As `fetch`, with the leader epochs that were committed too."""
        wanted = list(partitions)
        return await self._try(lambda: self._fetch(wanted)) if wanted else {}

    async def _try(
        self, attempt: Callable[[], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result:
        """Again and elsewhere, for `default.api.timeout.ms` unless `timeout_s` is given."""
        last_error: KafkaError | None = None
        try:
            async with asyncio.timeout(timeout_s or self._coordinator.cluster.api_timeout_s):
                while True:
                    try:
                        return await attempt()
                    except KafkaError as error:
                        await self._prepare_retry(error)
                        last_error = error
                    await self._coordinator.cluster.back_off()
        except TimeoutError:
            reason = f"group {self._coordinator.name}: {last_error or 'no answer'}"
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason) from None

    async def _prepare_retry(self, error: KafkaError) -> None:
        """Raise again what no retry helps with. The heartbeats see to rejoining."""
        if error.code is ErrorCode.STALE_MEMBER_EPOCH and self.renew is not None:
            await self.renew()
            return
        if not (error.is_retriable or error.code is ErrorCode.NETWORK_EXCEPTION):
            raise error
        if self._membership.remedy(error.code) is Remedy.FIND_COORDINATOR:
            self._coordinator.forget()

    async def _commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for (topic, partition), offset in offsets.items():
            topics.setdefault(topic, []).append(
                OffsetCommitRequestPartition(
                    partition_index=partition,
                    committed_offset=offset,
                    committed_leader_epoch=self.epoch_at(TopicPartition(topic, partition), offset),
                    committed_metadata="",
                )
            )
        request = OffsetCommitRequest(
            group_id=self._membership.group_id,
            generation_id_or_member_epoch=self._membership.generation,
            member_id=self._membership.member_id if self._membership.is_in_generation else "",
            group_instance_id=self._instance_id if self._membership.is_in_generation else None,
            topics=[
                OffsetCommitRequestTopic(name=name, partitions=each)
                for name, each in topics.items()
            ],
        )
        answer = await self._coordinator.ask(request, OffsetCommitResponse)
        for topic_answer in answer.topics:
            for each in topic_answer.partitions:
                where = TopicPartition(topic_answer.name, each.partition_index)
                _raise_for(each.error_code, where)

    async def _can_require_stable(self) -> bool:
        if not self._is_committed_only:
            return False
        return await self._coordinator.newest_version(_OFFSET_FETCH) >= _SINCE_STABLE

    async def _fetch(self, partitions: list[TopicPartition]) -> dict[TopicPartition, ReadPosition]:
        topics: dict[str, list[int]] = {}
        for topic, partition in partitions:
            topics.setdefault(topic, []).append(partition)
        request = OffsetFetchRequest(
            group_id=self._membership.group_id,
            topics=[
                OffsetFetchRequestTopic(name=name, partition_indexes=each)
                for name, each in topics.items()
            ],
            require_stable=await self._can_require_stable(),
        )
        answer = await self._coordinator.ask(request, OffsetFetchResponse)
        _raise_for(answer.error_code, self._membership.group_id)
        found: dict[TopicPartition, ReadPosition] = {}
        for topic_answer in answer.topics:
            for each in topic_answer.partitions:
                where = TopicPartition(topic_answer.name, each.partition_index)
                _raise_for(each.error_code, where)
                if each.committed_offset >= 0:
                    found[where] = ReadPosition(each.committed_offset, each.committed_leader_epoch)
        return found


def _raise_for(number: int, where: object) -> None:
    if number:
        code = ErrorCode(number)
        raise KafkaError(code, f"{where}: {code.name}")
