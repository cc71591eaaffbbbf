"""CreateTopics (key 19): create topics."""

from collections.abc import Sequence

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.topic_creation import NewTopic
from moldau.config.effective import ConfigEntry
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_topics import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

_CONFIGS_SINCE = 5


async def handle(
    request: CreateTopicsRequest, context: Context, broker: Broker
) -> CreateTopicsResponse:
    broker.controller.require_office()
    planned = broker.topic_creation.plan(request.topics)
    if not request.validate_only:
        await broker.topic_creation.create(planned, timeout_s=request.timeout_ms / 1000)
    return CreateTopicsResponse(topics=[_result(topic, context, broker) for topic in planned])


def refuse(
    request: CreateTopicsRequest, context: Context, error: KafkaError
) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message
            )
            for topic in request.topics
        ]
    )


def _result(topic: NewTopic, context: Context, broker: Broker) -> CreatableTopicResult:
    result = CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_code=ErrorCode.NONE if topic.error is None else topic.error.code,
        error_message=None if topic.error is None else topic.error.message,
    )
    if topic.error is None and context.api_version >= _CONFIGS_SINCE:
        result.num_partitions = len(topic.replicas)
        result.replication_factor = topic.replication_factor
        result.configs = _configs(broker.configs.describe_topic(topic.overrides))
    return result


def _configs(entries: Sequence[ConfigEntry]) -> list[CreatableTopicConfigs]:
    return [
        CreatableTopicConfigs(
            name=entry.name,
            value=entry.value,
            read_only=entry.is_read_only,
            config_source=entry.source,
            is_sensitive=entry.is_sensitive,
        )
        for entry in entries
    ]
