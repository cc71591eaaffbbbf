"""Short ways to say the requests that many tests send."""

from moldau.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.protocol.primitives import NO_UUID
from moldau.records.batch import iterate_headers

NEWEST_PRODUCE = 11
NEWEST_FETCH = 17


def produce(
    records: bytearray | bytes | None,
    *,
    topic: str = "t",
    number: int = 0,
    acks: int = 1,
    timeout_ms: int = 0,
) -> ProduceRequest:
    data = PartitionProduceData(index=number, records=records)
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
    )


def produced(response: ProduceResponse) -> PartitionProduceResponse:
    """The answer for the only partition."""
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    return partition


def fetch_partition(
    number: int = 0,
    offset: int = 0,
    *,
    max_bytes: int = 1_000_000,
    epoch: int = -1,
    last_fetched_epoch: int = -1,
) -> FetchPartition:
    return FetchPartition(
        partition=number,
        fetch_offset=offset,
        partition_max_bytes=max_bytes,
        current_leader_epoch=epoch,
        last_fetched_epoch=last_fetched_epoch,
        log_start_offset=0,
    )


def fetch(
    *partitions: FetchPartition,
    topic: str | bytes = "t",
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 2**31 - 1,
    isolation: int = 0,
) -> FetchRequest:
    """A request without a session, by topic name or (for version 13 on) by topic id."""
    name, topic_id = (topic, NO_UUID) if isinstance(topic, str) else ("", topic)
    named = FetchTopic(topic=name, topic_id=topic_id, partitions=list(partitions))
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation,
        topics=[named] if partitions else [],
    )


def as_follower(request: FetchRequest, replica_id: int, version: int) -> FetchRequest:
    """The request as another broker sends it."""
    if version >= 15:
        request.replica_state = ReplicaState(replica_id=replica_id)
    else:
        request.replica_id = replica_id
    return request


def in_session(
    request: FetchRequest, session_id: int, epoch: int, *, forgotten: list[int] | None = None
) -> FetchRequest:
    """The request as part of a session; `forgotten` are partitions of topic `t`."""
    request.session_id = session_id
    request.session_epoch = epoch
    if forgotten:
        request.forgotten_topics_data = [ForgottenTopic(topic="t", partitions=forgotten)]
    return request


def fetched(response: object) -> dict[int, PartitionData]:
    """The partitions of all topics in an answer, by number."""
    topics = response.responses  # type: ignore[attr-defined]
    return {one.partition_index: one for topic in topics for one in topic.partitions}


def records_of(data: PartitionData) -> bytes:
    """The records of one partition, as they were decoded from a frame."""
    assert isinstance(data.records, bytes | bytearray | memoryview)
    return bytes(data.records)


def offsets_in(data: PartitionData) -> list[int]:
    """Where the batches of one partition begin."""
    return [header.base_offset for _, header in iterate_headers(records_of(data))]
