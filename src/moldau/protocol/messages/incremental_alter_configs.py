"""IncrementalAlterConfigs (key 44): change single settings of topics and brokers (KIP-339)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class AlterableConfig:
    name: str
    config_operation: Int8
    value: str | None


@struct
class AlterConfigsResource:
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


@message(api_key=44, versions=range(0, 2), flexible_from=1)
class IncrementalAlterConfigsRequest:
    resources: list[AlterConfigsResource]
    validate_only: bool


@struct
class AlterConfigsResourceResponse:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str


@message(api_key=44, versions=range(0, 2), flexible_from=1)
class IncrementalAlterConfigsResponse:
    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]
