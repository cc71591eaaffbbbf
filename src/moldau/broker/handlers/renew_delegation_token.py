"""RenewDelegationToken (key 39): let a token live longer (KIP-48).

Its owner and its renewers may do that. Version 2 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.login.token_requests import require_token_requests
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

_NEVER_MS = -1


async def handle(
    request: RenewDelegationTokenRequest, context: Context, broker: Broker
) -> RenewDelegationTokenResponse:
    require_token_requests(context.client)
    asker = context.client.principal
    proof, period_ms = bytes(request.hmac), request.renew_period_ms
    expires_ms = await broker.tokens.renew(proof, period_ms, asker)
    return RenewDelegationTokenResponse(
        error_code=ErrorCode.NONE, expiry_timestamp_ms=expires_ms, throttle_time_ms=0
    )


async def refuse(
    _request: RenewDelegationTokenRequest, _context: Context, error: KafkaError
) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(
        error_code=error.code, expiry_timestamp_ms=_NEVER_MS, throttle_time_ms=0
    )
