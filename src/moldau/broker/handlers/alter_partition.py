"""AlterPartition (key 56): a leader asks the controller to write another in-sync set (KIP-497).

It is flexible from the start. Version 1 adds the leader's recovery state (KIP-704); 2 has topic ids
instead of names, and allows INELIGIBLE_REPLICA (KIP-841); 3 adds the broker epoch of each member
(KIP-903).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.handlers.allocate_producer_ids import require_registration
from moldau.controller.cluster import NO_LEADER, LeaderIsr
from moldau.controller.isr_changes import IsrMember, IsrWish
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    RequestPartitionData,
    ResponsePartitionData,
    ResponseTopicData,
)
from moldau.security.acls import Operation

_TOPIC_IDS_SINCE = 2
_MEMBER_EPOCHS_SINCE = 3
_NOBODY = LeaderIsr(NO_LEADER, NO_LEADER_EPOCH, (), -1, -1)


async def handle(
    request: AlterPartitionRequest, context: Context, broker: Broker
) -> AlterPartitionResponse:
    broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    require_registration(request.broker_id, request.broker_epoch, broker)
    version = context.api_version
    cluster = broker.controller.machine.cluster
    names = {topic.topic_id: name for name, topic in cluster.topics.items()}
    wishes: dict[TopicPartition, IsrWish] = {}
    for topic in request.topics:
        name = names.get(topic.topic_id) if version >= _TOPIC_IDS_SINCE else topic.topic_name
        if name is not None:
            for data in topic.partitions:
                wishes[TopicPartition(name, data.partition_index)] = _wish(data, version)
    refused = await broker.controller.perform(lambda term: term.change_isr(wishes))
    topics = []
    for topic in request.topics:
        name = names.get(topic.topic_id) if version >= _TOPIC_IDS_SINCE else topic.topic_name
        partitions = []
        for data in topic.partitions:
            partition = TopicPartition(name or "", data.partition_index)
            code = _code(refused.get(partition), version)
            if name is None:
                code = ErrorCode.UNKNOWN_TOPIC_ID
            state = cluster.leaders.get(partition, _NOBODY)
            partitions.append(_answer(data.partition_index, code, state))
        topics.append(
            ResponseTopicData(
                topic_name=topic.topic_name, topic_id=topic.topic_id, partitions=partitions
            )
        )
    return AlterPartitionResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, topics=topics)


def _wish(data: RequestPartitionData, version: int) -> IsrWish:
    if version >= _MEMBER_EPOCHS_SINCE:
        listed = data.new_isr_with_epochs
        members = tuple(IsrMember(one.broker_id, one.broker_epoch) for one in listed)
    else:
        members = tuple(map(IsrMember, data.new_isr))
    return IsrWish(data.leader_epoch, data.partition_epoch, members)


def _code(error: KafkaError | None, version: int) -> ErrorCode:
    if error is None:
        return ErrorCode.NONE
    if error.code is ErrorCode.INELIGIBLE_REPLICA and version < _TOPIC_IDS_SINCE:
        return ErrorCode.OPERATION_NOT_ATTEMPTED
    return error.code


def _answer(number: int, code: ErrorCode, state: LeaderIsr) -> ResponsePartitionData:
    return ResponsePartitionData(
        partition_index=number,
        error_code=code,
        leader_id=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        partition_epoch=state.zk_version,
    )
