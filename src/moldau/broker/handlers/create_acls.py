"""CreateAcls (key 30): add access rules; without an authoriser there are none.

Version 1 adds pattern types, such as prefixes (KIP-290); 2 is flexible; 3 adds users as resources
(KIP-373).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


async def handle(
    request: CreateAclsRequest, context: Context, broker: Broker
) -> CreateAclsResponse:
    raise KafkaError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")


async def refuse(
    request: CreateAclsRequest, context: Context, error: KafkaError
) -> CreateAclsResponse:
    results = [
        AclCreationResult(error_code=error.code, error_message=error.message)
        async for _ in context.each(request.creations)
    ]
    return CreateAclsResponse(throttle_time_ms=0, results=results)
