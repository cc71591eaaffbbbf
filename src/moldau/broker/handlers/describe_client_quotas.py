"""DescribeClientQuotas (key 48): show quotas of users, clients and addresses.

The API comes from KIP-546. Version 1 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.settings.client_quotas import EntityFilter
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from moldau.security.acls import Operation


async def handle(
    request: DescribeClientQuotasRequest, context: Context, broker: Broker
) -> DescribeClientQuotasResponse:
    broker.authorizer.require(context, Operation.DESCRIBE_CONFIGS)
    # There are three types, each of which can be asked for once: a fourth is one too many.
    filters = [
        EntityFilter(one.entity_type, one.match_type, one.match) for one in request.components[:4]
    ]
    found = await broker.client_quotas.find(filters, is_strict=request.strict)
    entries = [
        EntryData(
            entity=[
                EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()
            ],
            values=[ValueData(key=key, value=value) for key, value in values.items()],
        )
        for entity, values in found
    ]
    return DescribeClientQuotasResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message="", entries=entries
    )


async def refuse(
    request: DescribeClientQuotasRequest, context: Context, error: KafkaError
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        throttle_time_ms=0, error_code=error.code, error_message=error.message, entries=None
    )
