"""Requests that tests of a running broker send."""

from moldau.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.records.batch import write_batch
from moldau.records.record import Record


def metadata(*topics: str) -> MetadataRequest:
    """Ask about topics; they are created on the way."""
    return MetadataRequest(topics=[MetadataRequestTopic(name=topic) for topic in topics])


def batch(*values: bytes, timestamp: int = 1_700_000_000_000) -> bytes:
    records = [Record(number, timestamp, None, value) for number, value in enumerate(values)]
    return bytes(write_batch(records))


def produce(
    topic: str, records: bytes | None, *, partition: int = 0, acks: int = -1
) -> ProduceRequest:
    return ProduceRequest(
        transactional_id=None,
        acks=acks,
        timeout_ms=5000,
        topic_data=[
            TopicProduceData(
                name=topic,
                partition_data=[PartitionProduceData(index=partition, records=records)],
            )
        ],
    )


def fetch(
    topic: str, offset: int = 0, *, partition: int = 0, max_wait_ms: int = 0, min_bytes: int = 0
) -> FetchRequest:
    """For versions up to 12, which name topics."""
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(
                        partition=partition, fetch_offset=offset, partition_max_bytes=2**20
                    )
                ],
            )
        ],
        forgotten_topics_data=[],
    )
