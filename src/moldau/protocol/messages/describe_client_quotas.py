"""DescribeClientQuotas (key 48): show quotas (KIP-546)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Float64, Int8, Int16, Int32


@struct
class ComponentData:
    entity_type: str
    match_type: Int8
    match: str | None


@message(api_key=48, versions=range(0, 2), flexible_from=1)
class DescribeClientQuotasRequest:
    components: list[ComponentData]
    strict: bool


@struct
class EntityData:
    entity_type: str
    entity_name: str | None


@struct
class ValueData:
    key: str
    value: Float64


@struct
class EntryData:
    entity: list[EntityData]
    values: list[ValueData]


@message(api_key=48, versions=range(0, 2), flexible_from=1)
class DescribeClientQuotasResponse:
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    entries: list[EntryData] | None
