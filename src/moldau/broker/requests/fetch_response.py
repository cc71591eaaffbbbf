"""The message that answers a Fetch request, from the outcomes of its partitions."""

from moldau.broker.context import Client
from moldau.broker.requests.leader_hints import FindReplica, LeaderHints
from moldau.broker.requests.reads import PartitionRead
from moldau.metadata.image import ClusterImage
from moldau.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from moldau.protocol.primitives import NO_UUID

LEADER_HINTS_SINCE = 16


class ResponseBuilder:
    """Adds one partition after the other, so that others can have their turn in between."""

    def __init__(
        self,
        session_id: int,
        version: int,
        *,
        image: ClusterImage,
        client: Client,
        find_replica: FindReplica,
    ) -> None:
        self._response = FetchResponse(session_id=session_id, responses=[])
        self._hints = (
            LeaderHints(image, client, find_replica) if version >= LEADER_HINTS_SINCE else None
        )
        self._topic: str | bytes | None = None

    def add(self, read: PartitionRead) -> None:
        """What came of a partition; those of one topic follow each other."""
        topic, number = read.key
        topics = self._response.responses
        if topic != self._topic:
            self._topic = topic
            name, topic_id = (topic, NO_UUID) if isinstance(topic, str) else ("", topic)
            topics.append(FetchableTopicResponse(topic=name, topic_id=topic_id, partitions=[]))
        data = _partition_data(number, read)
        if self._hints is not None and read.name is not None:
            leader = self._hints.leader_for(data.error_code, *read.name)
            if leader is not None:
                data.current_leader = LeaderIdAndEpoch(
                    leader_id=leader.leader, leader_epoch=leader.leader_epoch
                )
        topics[-1].partitions.append(data)

    def finish(self) -> FetchResponse:
        """The whole answer."""
        if self._hints is not None:
            self._response.node_endpoints = [
                NodeEndpoint(node_id=node.id, host=host, port=port, rack=node.rack)
                for node, host, port in self._hints.nodes()
            ]
        return self._response


def refused(number: int, code: int) -> PartitionData:
    """A partition of which there is nothing to say but an error."""
    return PartitionData(
        partition_index=number,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=None,
        records=b"",
    )


def _partition_data(number: int, read: PartitionRead) -> PartitionData:
    if read.error is not None:
        return refused(number, read.error.code)
    data = PartitionData(
        partition_index=number,
        error_code=0,
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start_offset,
        aborted_transactions=None,
        preferred_read_replica=read.preferred_replica,
        records=b"" if read.records is None else read.records,
    )
    if read.aborted is not None:
        data.aborted_transactions = [
            AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset)
            for one in read.aborted
        ]
    if read.diverging is not None:
        epoch, end_offset = read.diverging
        data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return data
