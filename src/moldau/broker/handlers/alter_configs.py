"""AlterConfigs (key 33): replace all dynamic settings of topics and brokers.

In version 1 the client waits out the throttle time (KIP-219); 2 is flexible.
"""

from collections import Counter

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.settings.resources import (
    RequestedResource,
    require_right,
    require_sensible_settings,
)
from moldau.broker.topics.creation import require_once
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from moldau.security.acls import Operation


async def handle(
    request: AlterConfigsRequest, context: Context, broker: Broker
) -> AlterConfigsResponse:
    counts = Counter([_name(one) async for one in context.each(request.resources)])
    responses = []
    async for resource in context.each(request.resources):
        name = _name(resource)
        try:
            require_once(counts[name], "Each resource must appear at most once.")
            require_right(name, Operation.ALTER_CONFIGS, context, broker.authorizer)
            require_sensible_settings(len(resource.configs))
            settings = {config.name: config.value for config in resource.configs}
            require_once(
                1 + len(resource.configs) - len(settings), "Error due to duplicate config keys"
            )
            await broker.config_changes.replace(
                name, settings, is_only_checked=request.validate_only
            )
        except KafkaError as error:
            responses.append(_response(resource, error))
        else:
            responses.append(_response(resource, None))
    return AlterConfigsResponse(throttle_time_ms=0, responses=responses)


async def refuse(
    request: AlterConfigsRequest, context: Context, error: KafkaError
) -> AlterConfigsResponse:
    responses = [_response(resource, error) async for resource in context.each(request.resources)]
    return AlterConfigsResponse(throttle_time_ms=0, responses=responses)


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
