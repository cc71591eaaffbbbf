"""RenewDelegationToken (key 39): prolong a delegation token."""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=39, versions=range(0, 3), flexible_from=2)
class RenewDelegationTokenRequest:
    hmac: bytes
    renew_period_ms: Int64


@message(api_key=39, versions=range(0, 3), flexible_from=2)
class RenewDelegationTokenResponse:
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
