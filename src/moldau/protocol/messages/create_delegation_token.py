"""CreateDelegationToken (key 38): issue a delegation token."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class CreatableRenewers:
    principal_type: str
    principal_name: str


@message(api_key=38, versions=range(0, 4), flexible_from=2)
class CreateDelegationTokenRequest:
    owner_principal_type: str | None = since(3, default="")
    owner_principal_name: str | None = since(3, default="")
    renewers: list[CreatableRenewers]
    max_lifetime_ms: Int64


@message(api_key=38, versions=range(0, 4), flexible_from=2)
class CreateDelegationTokenResponse:
    error_code: Int16
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = since(3, default="")
    token_requester_principal_name: str = since(3, default="")
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: str
    hmac: bytes
    throttle_time_ms: Int32
