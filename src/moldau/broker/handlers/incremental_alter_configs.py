"""IncrementalAlterConfigs (key 44): change single dynamic settings of topics and brokers.

The API comes from KIP-339. Version 1 is flexible.
"""

from collections import Counter

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.settings.changes import operation_of
from moldau.broker.settings.resources import (
    RequestedResource,
    require_right,
    require_sensible_settings,
)
from moldau.broker.topics.creation import require_once
from moldau.config.alteration import Alteration
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from moldau.security.acls import Operation


async def handle(
    request: IncrementalAlterConfigsRequest, context: Context, broker: Broker
) -> IncrementalAlterConfigsResponse:
    counts = Counter([_name(one) async for one in context.each(request.resources)])
    responses = []
    async for resource in context.each(request.resources):
        name = _name(resource)
        try:
            require_once(counts[name], "Each resource must appear at most once.")
            require_right(name, Operation.ALTER_CONFIGS, context, broker.authorizer)
            require_sensible_settings(len(resource.configs))
            alterations = [
                Alteration(config.name, operation_of(config.config_operation), config.value)
                for config in resource.configs
            ]
            await broker.config_changes.alter(
                name, alterations, is_only_checked=request.validate_only
            )
        except KafkaError as error:
            responses.append(_response(resource, error))
        else:
            responses.append(_response(resource, None))
    return IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses)


async def refuse(
    request: IncrementalAlterConfigsRequest, context: Context, error: KafkaError
) -> IncrementalAlterConfigsResponse:
    responses = [_response(resource, error) async for resource in context.each(request.resources)]
    return IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses)


def _name(resource: AlterConfigsResource) -> RequestedResource:
    return RequestedResource(resource.resource_type, resource.resource_name)


def _response(
    resource: AlterConfigsResource, error: KafkaError | None
) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
