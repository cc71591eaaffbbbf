"""SaslAuthenticate (key 36): carry one SASL token each way."""

from moldau.protocol.declaration import message, since
from moldau.protocol.primitives import Int16, Int64


@message(api_key=36, versions=range(0, 3), flexible_from=2)
class SaslAuthenticateRequest:
    auth_bytes: bytes


@message(api_key=36, versions=range(0, 3), flexible_from=2)
class SaslAuthenticateResponse:
    error_code: Int16
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: Int64 = since(1, default=0, ignorable=True)
