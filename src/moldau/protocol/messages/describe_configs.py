"""DescribeConfigs (key 32): show settings of topics and brokers."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class DescribeConfigsResource:
    resource_type: Int8
    resource_name: str
    # None asks for all settings.
    configuration_keys: list[str] | None


@message(api_key=32, versions=range(0, 5), flexible_from=4)
class DescribeConfigsRequest:
    resources: list[DescribeConfigsResource]
    include_synonyms: bool = since(1, default=False)
    include_documentation: bool = since(3, default=False)


@struct
class DescribeConfigsSynonym:
    name: str
    value: str | None
    source: Int8


@struct
class DescribeConfigsResourceResult:
    name: str
    value: str | None
    read_only: bool
    is_default: bool = since(0, removed_in=1, default=False)
    config_source: Int8 = since(1, default=-1, ignorable=True)
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym] = since(1, factory=list, ignorable=True)
    config_type: Int8 = since(3, default=0, ignorable=True)
    documentation: str | None = since(3, default="", ignorable=True)


@struct
class DescribeConfigsResult:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str
    configs: list[DescribeConfigsResourceResult]


@message(api_key=32, versions=range(0, 5), flexible_from=4)
class DescribeConfigsResponse:
    throttle_time_ms: Int32
    results: list[DescribeConfigsResult]
