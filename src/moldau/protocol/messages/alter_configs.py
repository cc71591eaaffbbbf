"""AlterConfigs (key 33): replace all settings of topics and brokers."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class AlterableConfig:
    name: str
    value: str | None


@struct
class AlterConfigsResource:
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


@message(api_key=33, versions=range(0, 3), flexible_from=2)
class AlterConfigsRequest:
    resources: list[AlterConfigsResource]
    validate_only: bool


@struct
class AlterConfigsResourceResponse:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str


@message(api_key=33, versions=range(0, 3), flexible_from=2)
class AlterConfigsResponse:
    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]
