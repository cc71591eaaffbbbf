"""The logs of partitions: offsets found, and records deleted up to one."""

from collections.abc import Mapping

from moldau.client.admin.area import AdminArea, values_by_topic
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.routing import Answers, outcome
from moldau.client.offset_lookup import CONSUMER, FoundOffset
from moldau.model import TopicPartition
from moldau.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
HIGH_WATERMARK = -1


class OffsetsArea(AdminArea):
    """The part of the Admin client for the logs of partitions."""

    async def list_offsets(
        self, times_ms: Mapping[TopicPartition, int], *, committed_only: bool = False
    ) -> Outcomes[TopicPartition, FoundOffset]:
        """The first offset at or after a time, or at EARLIEST, LATEST or MAX_TIMESTAMP.

        With `committed_only` open transactions end the log.
        """
        router = self._router

        async def ask(
            node_id: int, keys: list[TopicPartition]
        ) -> Answers[TopicPartition, FoundOffset]:
            wanted = values_by_topic({key: times_ms[key] for key in keys})
            request = ListOffsetsRequest(
                replica_id=CONSUMER,
                isolation_level=int(committed_only),
                topics=[
                    ListOffsetsTopic(
                        name=topic,
                        partitions=[
                            ListOffsetsPartition(partition_index=index, timestamp=at)
                            for index, at in partitions
                        ],
                    )
                    for topic, partitions in wanted.items()
                ],
            )
            answer = await router.cluster.ask(node_id, request, ListOffsetsResponse)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    each.error_code, FoundOffset(each.offset, each.timestamp)
                )
                for topic in answer.topics
                for each in topic.partitions
            }

        return await router.each(times_ms, router.leaders, ask)

    async def delete_records(
        self, before: Mapping[TopicPartition, int]
    ) -> Outcomes[TopicPartition, int]:
        """Delete the records before these offsets; returns where the logs begin then.

        HIGH_WATERMARK stands for all that is committed.
        """
        router = self._router

        async def ask(node_id: int, keys: list[TopicPartition]) -> Answers[TopicPartition, int]:
            wanted = values_by_topic({key: before[key] for key in keys})
            request = DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=topic,
                        partitions=[
                            DeleteRecordsPartition(partition_index=index, offset=offset)
                            for index, offset in partitions
                        ],
                    )
                    for topic, partitions in wanted.items()
                ],
                timeout_ms=router.settings.request_timeout_ms,
            )
            answer = await router.cluster.ask(node_id, request, DeleteRecordsResponse)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    each.error_code, each.low_watermark
                )
                for topic in answer.topics
                for each in topic.partitions
            }

        return await router.each(before, router.leaders, ask)
