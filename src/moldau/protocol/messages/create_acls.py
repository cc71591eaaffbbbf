"""CreateAcls (key 30): add access rules."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class AclCreation:
    resource_type: Int8
    resource_name: str
    resource_pattern_type: Int8 = since(1, default=3)
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@message(api_key=30, versions=range(0, 4), flexible_from=2)
class CreateAclsRequest:
    creations: list[AclCreation]


@struct
class AclCreationResult:
    error_code: Int16
    error_message: str | None


@message(api_key=30, versions=range(0, 4), flexible_from=2)
class CreateAclsResponse:
    throttle_time_ms: Int32
    results: list[AclCreationResult]
