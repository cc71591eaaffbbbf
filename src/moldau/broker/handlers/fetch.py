"""Fetch (key 1): batches from an offset on, at once or as soon as there are enough.

Version 1 reports the throttle time, which clients wait out since 8 (KIP-219); 2 has timestamps;
3 sends the first batch whole, however large; 4 knows transactions; 5 log start offsets; 6 and 14
one more error each; 7 sessions (KIP-227); 9 leader epochs (KIP-320); 10 zstd, and is never
converted to an older format; 11 racks (KIP-392); 12 is flexible, and says where logs part
(KIP-595); 13 has topic ids, 16 leader hints (KIP-951), 17 directory ids; 15 moves the replica's id.
"""

from typing import TYPE_CHECKING

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.requests.fetch_request import (
    TOPIC_IDS_SINCE,
    ParsedFetch,
    PartitionKey,
    Wanted,
)
from moldau.broker.requests.fetch_response import ResponseBuilder, refused
from moldau.broker.requests.fetch_sessions import FetchSessions
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.broker.requests.fetch import FetchOperation
else:
    FetchOperation = native.kernel(
        "moldau.broker.requests._fetch", "moldau.broker.requests.fetch"
    ).FetchOperation


async def handle(request: FetchRequest, context: Context, broker: Broker) -> FetchResponse:
    operation = FetchOperation(broker, _parsed(request, context, broker.fetch_sessions))
    outcomes = await operation.run(context)
    image = broker.metadata.image
    building = ResponseBuilder(
        operation.session_id,
        context.api_version,
        image=image,
        client=context.client,
        find_replica=broker.replicas.find,
    )
    async for outcome in context.each(outcomes):
        building.add(outcome)
    response = building.finish()
    response.throttle_time_ms = operation.throttle_ms
    return response


async def refuse(request: FetchRequest, context: Context, error: KafkaError) -> FetchResponse:
    """The error for the whole request; before version 13 also for every partition."""
    topics = []
    # One that names too many partitions gets it once.
    is_for_each = error.code is not ErrorCode.INVALID_REQUEST
    if context.api_version < TOPIC_IDS_SINCE and is_for_each:
        for topic in request.topics:
            partitions = [refused(one.partition, error.code) for one in topic.partitions]
            topics.append(FetchableTopicResponse(topic=topic.topic, partitions=partitions))
    return FetchResponse(error_code=error.code, responses=topics)


def _parsed(request: FetchRequest, context: Context, sessions: FetchSessions) -> ParsedFetch:
    uses_ids = context.api_version >= TOPIC_IDS_SINCE
    wanted: dict[PartitionKey, Wanted] = {}
    for topic in request.topics:
        sessions.check_count(len(wanted) + len(topic.partitions))
        name: str | bytes = topic.topic_id if uses_ids else topic.topic
        for partition in topic.partitions:
            wanted[PartitionKey(name, partition.partition)] = Wanted(
                partition.current_leader_epoch,
                partition.fetch_offset,
                partition.last_fetched_epoch,
                partition.log_start_offset,
                partition.partition_max_bytes,
            )
    sessions.check_count(len(request.forgotten_topics_data))
    sessions.check_count(sum(len(topic.partitions) for topic in request.forgotten_topics_data))
    state = request.replica_state
    return ParsedFetch(
        client=context.client,
        client_id=context.client_id,
        version=context.api_version,
        replica_id=request.replica_id if state is None else state.replica_id,
        max_wait_ms=request.max_wait_ms,
        min_bytes=request.min_bytes,
        max_bytes=request.max_bytes,
        isolation_level=request.isolation_level,
        session_id=request.session_id,
        session_epoch=request.session_epoch,
        wanted=wanted,
        forgotten=[
            PartitionKey(topic.topic_id if uses_ids else topic.topic, partition)
            for topic in request.forgotten_topics_data
            for partition in topic.partitions
        ],
        rack_id=request.rack_id,
    )
