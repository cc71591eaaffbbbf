"""DeleteGroups (key 42): delete groups that are empty."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32


@message(api_key=42, versions=range(0, 3), flexible_from=2)
class DeleteGroupsRequest:
    groups_names: list[str]


@struct
class DeletableGroupResult:
    group_id: str
    error_code: Int16


@message(api_key=42, versions=range(0, 3), flexible_from=2)
class DeleteGroupsResponse:
    throttle_time_ms: Int32
    results: list[DeletableGroupResult]
