"""DescribeAcls (key 29): show access rules."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@message(api_key=29, versions=range(0, 4), flexible_from=2)
class DescribeAclsRequest:
    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = since(1, default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


@struct
class AclDescription:
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@struct
class DescribeAclsResource:
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = since(1, default=3)
    acls: list[AclDescription]


@message(api_key=29, versions=range(0, 4), flexible_from=2)
class DescribeAclsResponse:
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    resources: list[DescribeAclsResource]
