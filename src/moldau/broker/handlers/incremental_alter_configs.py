"""IncrementalAlterConfigs (key 44): change single dynamic settings of topics and brokers."""

from moldau.broker.broker import Broker
from moldau.broker.config_changes import operation_of
from moldau.broker.config_resources import ConfigResource
from moldau.broker.context import Context
from moldau.broker.topic_creation import require_once
from moldau.config.alteration import Alteration
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


async def handle(
    request: IncrementalAlterConfigsRequest, context: Context, broker: Broker
) -> IncrementalAlterConfigsResponse:
    names = [_name(resource) for resource in request.resources]
    responses = []
    for resource, name in zip(request.resources, names, strict=True):
        try:
            require_once(names.count(name), "Each resource must appear at most once.")
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


def refuse(
    request: IncrementalAlterConfigsRequest, context: Context, error: KafkaError
) -> IncrementalAlterConfigsResponse:
    responses = [_response(resource, error) for resource in request.resources]
    return IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses)


def _name(resource: AlterConfigsResource) -> ConfigResource:
    return ConfigResource(resource.resource_type, resource.resource_name)


def _response(
    resource: AlterConfigsResource, error: KafkaError | None
) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
