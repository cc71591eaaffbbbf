"""AlterClientQuotas (key 49): change quotas (KIP-546)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Float64, Int16, Int32


@struct
class EntityData:
    entity_type: str
    entity_name: str | None


@struct
class OpData:
    key: str
    value: Float64
    remove: bool


@struct
class RequestEntryData:
    entity: list[EntityData]
    ops: list[OpData]


@message(api_key=49, versions=range(0, 2), flexible_from=1)
class AlterClientQuotasRequest:
    entries: list[RequestEntryData]
    validate_only: bool


@struct
class ResponseEntryData:
    error_code: Int16
    error_message: str | None
    entity: list[EntityData]


@message(api_key=49, versions=range(0, 2), flexible_from=1)
class AlterClientQuotasResponse:
    throttle_time_ms: Int32
    entries: list[ResponseEntryData]
