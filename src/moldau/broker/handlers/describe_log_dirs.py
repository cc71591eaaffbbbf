"""DescribeLogDirs (key 35): show what lies in this broker's log directories.

In version 1 the client waits out the throttle time (KIP-219); 2 is flexible; 3 adds an error for
the whole answer; 4 the total and usable bytes of the volume (KIP-827).
"""

from collections.abc import Collection, Iterator

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from moldau.security.acls import Operation


async def handle(
    request: DescribeLogDirsRequest, context: Context, broker: Broker
) -> DescribeLogDirsResponse:
    broker.authorizer.require(context, Operation.DESCRIBE)
    wanted = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.topic, number)
            async for topic in context.each(request.topics)
            async for number in context.each(topic.partitions)
        }
    results = [
        await _describe(directory, wanted, context, broker) for directory in broker.logs.directories
    ]
    return DescribeLogDirsResponse(throttle_time_ms=0, results=results)


async def _describe(
    directory: LogDirectory,
    wanted: Collection[TopicPartition] | None,
    context: Context,
    broker: Broker,
) -> DescribeLogDirsResult:
    volume = directory.volume
    if not volume.is_online:
        return DescribeLogDirsResult(
            error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=volume.path, topics=[]
        )
    topics: dict[str, DescribeLogDirsTopic] = {}
    async for name, described in context.each(_partitions(directory, broker)):
        if wanted is None or name in wanted:
            topic = topics.setdefault(
                name.topic, DescribeLogDirsTopic(name=name.topic, partitions=[])
            )
            topic.partitions.append(described)
    return DescribeLogDirsResult(
        error_code=ErrorCode.NONE,
        log_dir=volume.path,
        topics=list(topics.values()),
        total_bytes=volume.disk.total_bytes(volume.path),
        usable_bytes=volume.disk.free_bytes(volume.path),
    )


def _partitions(
    directory: LogDirectory, broker: Broker
) -> Iterator[tuple[TopicPartition, DescribeLogDirsPartition]]:
    for name, log in list(directory.logs.items()):
        lag = max(log.high_watermark - log.log_end_offset, 0)
        yield name, _partition(log, lag, is_future=False)
    for name, copy in list(directory.futures.items()):
        original = broker.logs.get(name)
        lag = 0 if original is None else max(original.log_end_offset - copy.log_end_offset, 0)
        yield name, _partition(copy, lag, is_future=True)


def _partition(log: Log, lag: int, *, is_future: bool) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=log.partition.partition,
        partition_size=log.size,
        offset_lag=lag,
        is_future_key=is_future,
    )
