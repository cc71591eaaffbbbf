"""DeleteAcls (key 31): remove access rules."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class DeleteAclsFilter:
    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = since(1, default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


@message(api_key=31, versions=range(0, 4), flexible_from=2)
class DeleteAclsRequest:
    filters: list[DeleteAclsFilter]


@struct
class DeleteAclsMatchingAcl:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = since(1, default=3)
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@struct
class DeleteAclsFilterResult:
    error_code: Int16
    error_message: str | None
    matching_acls: list[DeleteAclsMatchingAcl]


@message(api_key=31, versions=range(0, 4), flexible_from=2)
class DeleteAclsResponse:
    throttle_time_ms: Int32
    filter_results: list[DeleteAclsFilterResult]
