"""CreateTopics (key 19): create topics.

Version 1 can validate only, and adds error messages; 2 reports the throttle time; in 3 the client
waits it out (KIP-219); 4 takes defaults for partitions and replicas (KIP-464); 5 is flexible, and
answers with the settings (KIP-525); 6 allows THROTTLING_QUOTA_EXCEEDED (KIP-599); 7 answers with
the topic id (KIP-516).
"""

from collections.abc import Mapping, Sequence

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.topics.creation import RequestedTopic
from moldau.config.effective import EffectiveSetting
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
    planned = await broker.topic_creation.plan(request.topics, context.turns)
    if not request.validate_only:
        timeout_s, cause = request.timeout_ms / 1000, f"asked for by {context.who}"
        await broker.topic_creation.create(planned, timeout_s=timeout_s, cause=cause)
    described = _Described(broker)
    results = [_result(topic, context, described) async for topic in context.each(planned)]
    return CreateTopicsResponse(topics=results)


async def refuse(
    request: CreateTopicsRequest, context: Context, error: KafkaError
) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message
            )
            async for topic in context.each(request.topics)
        ]
    )


class _Described:
    """Settings as the answer lists them: once for all topics that have the same."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._known: dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]] = {}

    def of(self, overrides: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        key = frozenset(overrides.items())
        if key not in self._known:
            self._known[key] = _configs(self._broker.configs.describe_topic(overrides))
        return self._known[key]


def _result(topic: RequestedTopic, context: Context, described: _Described) -> CreatableTopicResult:
    result = CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_code=ErrorCode.NONE if topic.error is None else topic.error.code,
        error_message=None if topic.error is None else topic.error.message,
    )
    if topic.error is None and context.api_version >= _CONFIGS_SINCE:
        result.num_partitions = len(topic.replicas)
        result.replication_factor = topic.replication_factor
        result.configs = described.of(topic.overrides)
    return result


def _configs(entries: Sequence[EffectiveSetting]) -> list[CreatableTopicConfigs]:
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
