"""AlterClientQuotas (key 49): change quotas of users, clients and addresses.

The API comes from KIP-546. Version 1 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.settings.client_quotas import QuotaChange
from moldau.broker.settings.resources import require_sensible_settings
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    RequestEntryData,
    ResponseEntryData,
)
from moldau.security.acls import Operation


async def handle(
    request: AlterClientQuotasRequest, context: Context, broker: Broker
) -> AlterClientQuotasResponse:
    broker.authorizer.require(context, Operation.ALTER_CONFIGS)
    entries = []
    async for entry in context.each(request.entries):
        try:
            require_sensible_settings(len(entry.ops) + len(entry.entity))
            entity = {part.entity_type: part.entity_name for part in entry.entity}
            changes = [QuotaChange(op.key, None if op.remove else op.value) for op in entry.ops]
            await broker.client_quotas.alter(entity, changes, is_only_checked=request.validate_only)
        except KafkaError as error:
            entries.append(_answer(entry, error))
        else:
            entries.append(_answer(entry, None))
    return AlterClientQuotasResponse(throttle_time_ms=0, entries=entries)


async def refuse(
    request: AlterClientQuotasRequest, context: Context, error: KafkaError
) -> AlterClientQuotasResponse:
    entries = [_answer(entry, error) async for entry in context.each(request.entries)]
    return AlterClientQuotasResponse(throttle_time_ms=0, entries=entries)


def _answer(entry: RequestEntryData, error: KafkaError | None) -> ResponseEntryData:
    return ResponseEntryData(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
        entity=entry.entity,
    )
