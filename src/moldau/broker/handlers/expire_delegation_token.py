"""ExpireDelegationToken (key 40): let a token end at another time (KIP-48).

Its owner and its renewers may do that. Version 2 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.login.token_requests import require_token_requests
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)

_NEVER_MS = -1


async def handle(
    request: ExpireDelegationTokenRequest, context: Context, broker: Broker
) -> ExpireDelegationTokenResponse:
    require_token_requests(context.client)
    asker = context.client.principal
    proof, period_ms = bytes(request.hmac), request.expiry_time_period_ms
    expires_ms = await broker.tokens.expire(proof, period_ms, asker)
    return ExpireDelegationTokenResponse(
        error_code=ErrorCode.NONE, expiry_timestamp_ms=expires_ms, throttle_time_ms=0
    )


async def refuse(
    _request: ExpireDelegationTokenRequest, _context: Context, error: KafkaError
) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(
        error_code=error.code, expiry_timestamp_ms=_NEVER_MS, throttle_time_ms=0
    )
