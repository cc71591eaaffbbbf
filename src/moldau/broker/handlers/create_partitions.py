"""CreatePartitions (key 37): give topics more partitions.

In version 1 the client waits out the throttle time (KIP-219); 2 is flexible; 3 allows
THROTTLING_QUOTA_EXCEEDED (KIP-599).
"""

from collections import Counter

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.topics.creation import require_once
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from moldau.security.acls import Operation, ResourceType

_STRICT_SINCE = 3


async def handle(
    request: CreatePartitionsRequest, context: Context, broker: Broker
) -> CreatePartitionsResponse:
    broker.controller.require_office()
    counts = Counter(topic.name for topic in request.topics)
    permits = broker.quotas.permits(context, is_strict=context.api_version >= _STRICT_SINCE)
    errors: dict[str, KafkaError] = {}
    async for topic in context.each(request.topics):
        try:
            require_once(counts[topic.name], "Duplicate topic in request.")
            _require_right(topic.name, context, broker)
            await broker.topic_growth.grow(
                topic,
                take=None if request.validate_only else permits.take,
                cause=f"asked for by {context.who}",
            )
        except KafkaError as error:
            errors[topic.name] = error.kept()
    if not request.validate_only:
        grown = {topic.name: topic.count for topic in request.topics if topic.name not in errors}
        timeout_s = request.timeout_ms / 1000
        for name in await broker.topics.until_all_led(grown, timeout_s=timeout_s):
            errors[name] = KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    # A topic that is named twice is answered for once.
    topics = {topic.name: topic for topic in request.topics}.values()
    results = [_result(topic, errors.get(topic.name)) async for topic in context.each(topics)]
    return CreatePartitionsResponse(throttle_time_ms=permits.throttle_ms, results=results)


async def refuse(
    request: CreatePartitionsRequest, context: Context, error: KafkaError
) -> CreatePartitionsResponse:
    results = [_result(topic, error) async for topic in context.each(request.topics)]
    return CreatePartitionsResponse(throttle_time_ms=0, results=results)


def _require_right(topic: str, context: Context, broker: Broker) -> None:
    if not broker.authorizer.may(context, Operation.ALTER, ResourceType.TOPIC, topic):
        message = "The topic authorization is failed."
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, message)


def _result(topic: CreatePartitionsTopic, error: KafkaError | None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(
        name=topic.name,
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
    )
