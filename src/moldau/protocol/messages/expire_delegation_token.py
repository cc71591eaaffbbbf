"""ExpireDelegationToken (key 40): end a delegation token early."""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=40, versions=range(0, 3), flexible_from=2)
class ExpireDelegationTokenRequest:
    hmac: bytes
    expiry_time_period_ms: Int64


@message(api_key=40, versions=range(0, 3), flexible_from=2)
class ExpireDelegationTokenResponse:
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
