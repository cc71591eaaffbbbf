"""SaslAuthenticate (key 36): carry a token; here it comes when there is nothing to prove.

As for SaslHandshake, the gate of a SASL listener answers it during a login. Version 1 says how
long the login holds (KIP-368); 2 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)

_TOO_LATE = "SaslAuthenticate request received after successful authentication"


async def handle(
    request: SaslAuthenticateRequest, context: Context, broker: Broker
) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(
        error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=_TOO_LATE, auth_bytes=b""
    )
