"""AlterReplicaLogDirs (key 34): move replicas between this broker's log directories.

In version 1 the client waits out the throttle time (KIP-219); 2 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from moldau.security.acls import Operation


async def handle(
    request: AlterReplicaLogDirsRequest, context: Context, broker: Broker
) -> AlterReplicaLogDirsResponse:
    broker.authorizer.require(context, Operation.ALTER)
    codes: dict[TopicPartition, ErrorCode] = {}
    async for directory in context.each(request.dirs):
        async for topic in context.each(directory.topics):
            async for number in context.each(topic.partitions):
                name = TopicPartition(topic.name, number)
                try:
                    broker.log_moves.order(name, directory.path)
                except KafkaError as error:
                    codes[name] = error.code
                else:
                    codes[name] = ErrorCode.NONE
    return await _response(codes, context)


async def refuse(
    request: AlterReplicaLogDirsRequest, context: Context, error: KafkaError
) -> AlterReplicaLogDirsResponse:
    codes = {
        TopicPartition(topic.name, number): error.code
        async for directory in context.each(request.dirs)
        async for topic in context.each(directory.topics)
        async for number in context.each(topic.partitions)
    }
    return await _response(codes, context)


async def _response(
    codes: dict[TopicPartition, ErrorCode], context: Context
) -> AlterReplicaLogDirsResponse:
    topics: dict[str, AlterReplicaLogDirTopicResult] = {}
    async for name, code in context.each(codes.items()):
        topic = topics.setdefault(
            name.topic, AlterReplicaLogDirTopicResult(topic_name=name.topic, partitions=[])
        )
        topic.partitions.append(
            AlterReplicaLogDirPartitionResult(partition_index=name.partition, error_code=code)
        )
    return AlterReplicaLogDirsResponse(throttle_time_ms=0, results=list(topics.values()))
