"""SaslHandshake (key 17): choose a mechanism; here it comes when there is nothing to choose.

The gate of a SASL listener answers it before a login (`broker/login/`). What gets this far comes
from a client that is known, or on a listener without SASL. After version 0 tokens travel bare,
after version 1 in SaslAuthenticate (KIP-152).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


async def handle(
    request: SaslHandshakeRequest, context: Context, broker: Broker
) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])
