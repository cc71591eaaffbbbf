"""DescribeConfigs (key 32): show settings of topics and brokers, and where they come from.

Version 1 names the source of a value instead of whether it is the default, and can list synonyms
(KIP-226); in 2 the client waits out the throttle time (KIP-219); 3 adds types and documentation
(KIP-569); 4 is flexible.
"""

from collections.abc import Collection, Sequence

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.settings import loggers
from moldau.broker.settings.changes import require_own_loggers
from moldau.broker.settings.resources import (
    ConfigResourceType,
    RequestedResource,
    broker_of,
    require_right,
    require_topic,
)
from moldau.broker.topics.tree import check_name
from moldau.config.effective import (
    EffectiveSetting,
    SettingSource,
    describe_broker,
    describe_cluster,
)
from moldau.config.values import ConfigType
from moldau.coordination.layout.configs import ConfigEntity
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from moldau.security.acls import Operation

_UNKNOWN_TYPE = 0
_DYNAMIC_LOGGER = 6


async def handle(
    request: DescribeConfigsRequest, context: Context, broker: Broker
) -> DescribeConfigsResponse:
    described: dict[tuple[object, ...], DescribeConfigsResult] = {}
    results = []
    async for resource in context.each(request.resources):
        keys = tuple(resource.configuration_keys or ())
        asked = (resource.resource_type, resource.resource_name, keys)
        if asked not in described:
            described[asked] = await _result_of(resource, request, context, broker)
        results.append(described[asked])
    return DescribeConfigsResponse(throttle_time_ms=0, results=results)


async def refuse(
    request: DescribeConfigsRequest, context: Context, error: KafkaError
) -> DescribeConfigsResponse:
    results = [_refused(resource, error) async for resource in context.each(request.resources)]
    return DescribeConfigsResponse(throttle_time_ms=0, results=results)


async def _result_of(
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    context: Context,
    broker: Broker,
) -> DescribeConfigsResult:
    try:
        configs = await _describe(resource, request, context, broker)
    except KafkaError as error:
        return _refused(resource, error)
    return DescribeConfigsResult(
        error_code=ErrorCode.NONE,
        error_message="",
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=configs,
    )


def _refused(resource: DescribeConfigsResource, error: KafkaError) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=error.code,
        error_message=error.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[],
    )


async def _describe(
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    context: Context,
    broker: Broker,
) -> list[DescribeConfigsResourceResult]:
    # Kafka takes an empty list of names for no list.
    names = resource.configuration_keys or None
    name = RequestedResource(resource.resource_type, resource.resource_name)
    require_right(name, Operation.DESCRIBE_CONFIGS, context, broker.authorizer)
    if name.type == ConfigResourceType.BROKER_LOGGER:
        require_own_loggers(name, broker.id)
        return [
            _logger(logger, level)
            for logger, level in loggers.levels().items()
            if names is None or logger in names
        ]
    entries = await _entries(name, names, broker)
    results = [_result(entry, request) for entry in entries]
    if context.api_version == 0:
        for result, entry in zip(results, entries, strict=True):
            result.is_default = entry.source is SettingSource.DEFAULT_CONFIG
    return results


async def _entries(
    resource: RequestedResource, names: Collection[str] | None, broker: Broker
) -> Sequence[EffectiveSetting]:
    if resource.type == ConfigResourceType.TOPIC:
        check_name(resource.name)
        require_topic(resource.name, broker.metadata.image)
        overrides = await broker.configs.read(ConfigEntity.topic(resource.name))
        described = broker.configs.describe_topic(overrides)
        return [entry for entry in described if names is None or entry.name in names]
    if resource.type == ConfigResourceType.BROKER:
        layers = broker.configs.layers
        if broker_of(resource.name, broker.id) is None:
            return describe_cluster(layers, names)
        return describe_broker(layers, names)
    message = f"Unknown resource type {resource.type}"
    raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def _result(
    entry: EffectiveSetting, request: DescribeConfigsRequest
) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.is_read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=one.name, value=one.value, source=one.source)
            for one in synonyms
        ],
        config_type=_UNKNOWN_TYPE if entry.type is None else entry.type,
        documentation=entry.doc if request.include_documentation else None,
    )


def _logger(name: str, level: str) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=name,
        value=level,
        read_only=False,
        config_source=_DYNAMIC_LOGGER,
        is_sensitive=False,
        config_type=ConfigType.STRING,
        documentation=None,
    )
