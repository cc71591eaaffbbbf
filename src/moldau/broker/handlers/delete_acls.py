"""DeleteAcls (key 31): remove access rules; without an authoriser there are none.

Version 1 adds pattern types, such as prefixes (KIP-290); 2 is flexible; 3 adds users as resources
(KIP-373).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)


async def handle(
    request: DeleteAclsRequest, context: Context, broker: Broker
) -> DeleteAclsResponse:
    raise KafkaError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")


async def refuse(
    request: DeleteAclsRequest, context: Context, error: KafkaError
) -> DeleteAclsResponse:
    results = [
        DeleteAclsFilterResult(error_code=error.code, error_message=error.message, matching_acls=[])
        async for _ in context.each(request.filters)
    ]
    return DeleteAclsResponse(throttle_time_ms=0, filter_results=results)
