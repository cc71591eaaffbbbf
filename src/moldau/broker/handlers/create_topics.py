"""CreateTopics (key 19): create topics.

Version 1 can validate only, and adds error messages; 2 reports the throttle time; in 3 the client
waits it out (KIP-219); 4 takes defaults for partitions and replicas (KIP-464); 5 is flexible, and
answers with the settings (KIP-525); 6 allows THROTTLING_QUOTA_EXCEEDED (KIP-599); 7 answers with
the topic id (KIP-516).
"""

from collections.abc import Mapping, Sequence

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.quotas.permits import Permits
from moldau.broker.topics.creation import RequestedTopic
from moldau.config.effective import EffectiveSetting
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_topics import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from moldau.security.acls import Operation, ResourceType

_CONFIGS_SINCE = 5
_STRICT_SINCE = 6


async def handle(
    request: CreateTopicsRequest, context: Context, broker: Broker
) -> CreateTopicsResponse:
    broker.controller.require_office()
    planned = await broker.topic_creation.plan(request.topics, context.turns)
    await _deny(planned, context, broker)
    permits = broker.quotas.permits(context, is_strict=context.api_version >= _STRICT_SINCE)
    if not request.validate_only:
        _take(permits, planned)
        timeout_s, cause = request.timeout_ms / 1000, f"asked for by {context.who}"
        await broker.topic_creation.create(planned, timeout_s=timeout_s, cause=cause)
    described = _Described(broker, context)
    results = [_result(topic, context, described) async for topic in context.each(planned)]
    return CreateTopicsResponse(topics=results, throttle_time_ms=permits.throttle_ms)


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


def _take(permits: Permits, planned: Sequence[RequestedTopic]) -> None:
    """Leave out the topics that the client may not create now."""
    for topic in planned:
        if topic.error is None:
            try:
                permits.take(len(topic.replicas))
            except KafkaError as error:
                topic.error = error.kept()


class _Described:
    """Settings as the answer lists them: once for all topics that have the same."""

    def __init__(self, broker: Broker, context: Context) -> None:
        self._broker = broker
        self._context = context
        self._known: dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]] = {}

    def is_denied(self, topic: str) -> bool:
        """Whether the client may not see settings of the topic."""
        return not self._broker.authorizer.may(
            self._context, Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic, log=False
        )

    def of(self, overrides: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        key = frozenset(overrides.items())
        if key not in self._known:
            self._known[key] = _configs(self._broker.configs.describe_topic(overrides))
        return self._known[key]


async def _deny(planned: Sequence[RequestedTopic], context: Context, broker: Broker) -> None:
    """Whatever else is wrong with a topic, one that the client may not create is refused for that.

    Else the error would show whether there is such a topic.
    """
    may = broker.authorizer.may
    if may(context, Operation.CREATE, ResourceType.CLUSTER, log=False):
        return
    async for topic in context.each(planned):
        if not may(context, Operation.CREATE, ResourceType.TOPIC, topic.name):
            code, message = ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed."
            topic.error = KafkaError(code, message)


def _result(topic: RequestedTopic, context: Context, described: _Described) -> CreatableTopicResult:
    result = CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_code=ErrorCode.NONE if topic.error is None else topic.error.code,
        error_message=None if topic.error is None else topic.error.message,
    )
    if described.is_denied(topic.name):
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    elif topic.error is None and context.api_version >= _CONFIGS_SINCE:
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
