"""LeaderAndIsr (key 4): the controller says who leads and follows which partitions.

Version 1 marks new replicas; 2 adds the broker epoch (KIP-380), and groups partitions by topic;
3 adds the replicas to add and to remove (KIP-455); 4 is flexible; 5 adds topic ids and whether all
topics are listed, and groups the answer by topic (KIP-516); 6 adds the leader's recovery state
(KIP-704); 7 marks controllers of KRaft (KIP-866).
"""

import asyncio
from collections.abc import Iterator, Mapping
from copy import copy

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from moldau.runtime.clock import Moment
from moldau.security.acls import Operation

_TOPIC_IDS_SINCE = 5
_PARTITIONS_PER_PART = 10


async def handle(
    request: LeaderAndIsrRequest, context: Context, broker: Broker
) -> LeaderAndIsrResponse:
    broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    broker.registration.require_epoch(request.broker_epoch)
    errors: dict[TopicPartition, ErrorCode] = {}
    for part in _parts(request):
        # A log is made with its topic's settings, so those must be known before. Logs that
        # have a replica are already notified of changes.
        new = _partitions_to_make(part, broker)
        topics = dict.fromkeys(partition.topic for partition in new)
        await asyncio.gather(*map(broker.topic_configs.refresh, topics))
        for partition in new:
            # One that was found at the start may have been of a topic that nobody knew.
            broker.logs.configure(partition)
        changes = broker.replicas.apply_leader_and_isr(part, Moment.of(broker.clock))
        # Without a pause in between: nothing fetched may be appended by a leader.
        broker.fetching.stop(replica.topic_partition for replica in changes.leading)
        broker.fetching.follow(changes.following)
        for replica in (*changes.leading, *changes.following):
            broker.waiters.wake(replica.topic_partition)
        broker.coordinators.leadership_changed(changes)
        errors.update(changes.errors)
    broker.waiters.wake(broker.replicas)
    return _response(request, context.api_version, errors)


def _partitions_to_make(part: LeaderAndIsrRequest, broker: Broker) -> list[TopicPartition]:
    names = [
        TopicPartition(topic.topic_name, state.partition_index)
        for topic in part.topic_states
        for state in topic.partition_states
    ]
    names += [
        TopicPartition(state.topic_name, state.partition_index)
        for state in part.ungrouped_partition_states
    ]
    return [name for name in names if broker.replicas.find(name) is None]


def _parts(request: LeaderAndIsrRequest) -> Iterator[LeaderAndIsrRequest]:
    """The request in pieces, between which others get their turn: logs take time to make."""
    part = copy(request)
    part.topic_states = []
    room = _PARTITIONS_PER_PART
    for topic in request.topic_states:
        states = topic.partition_states
        while states:
            piece = copy(topic)
            piece.partition_states, states = states[:room], states[room:]
            part.topic_states.append(piece)
            room -= len(piece.partition_states)
            if not room:
                yield part
                part = copy(part)
                part.topic_states, part.ungrouped_partition_states = [], []
                room = _PARTITIONS_PER_PART
    yield part


def _response(
    request: LeaderAndIsrRequest, version: int, errors: Mapping[TopicPartition, ErrorCode]
) -> LeaderAndIsrResponse:
    if version < _TOPIC_IDS_SINCE:
        single = [
            LeaderAndIsrPartitionError(
                topic_name=name.topic, partition_index=name.partition, error_code=code
            )
            for name, code in errors.items()
        ]
        return LeaderAndIsrResponse(error_code=ErrorCode.NONE, partition_errors=single)
    topics = [
        LeaderAndIsrTopicError(
            topic_id=topic.topic_id,
            partition_errors=[
                LeaderAndIsrPartitionError(
                    partition_index=state.partition_index,
                    error_code=errors[TopicPartition(topic.topic_name, state.partition_index)],
                )
                for state in topic.partition_states
            ],
        )
        for topic in request.topic_states
    ]
    return LeaderAndIsrResponse(error_code=ErrorCode.NONE, topics=topics)
