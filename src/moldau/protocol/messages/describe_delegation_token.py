"""DescribeDelegationToken (key 41): show delegation tokens."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class DescribeDelegationTokenOwner:
    principal_type: str
    principal_name: str


@message(api_key=41, versions=range(0, 4), flexible_from=2)
class DescribeDelegationTokenRequest:
    # None asks for the tokens of all users.
    owners: list[DescribeDelegationTokenOwner] | None


@struct
class DescribedDelegationTokenRenewer:
    principal_type: str
    principal_name: str


@struct
class DescribedDelegationToken:
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = since(3, default="")
    token_requester_principal_name: str = since(3, default="")
    issue_timestamp: Int64
    expiry_timestamp: Int64
    max_timestamp: Int64
    token_id: str
    hmac: bytes
    renewers: list[DescribedDelegationTokenRenewer]


@message(api_key=41, versions=range(0, 4), flexible_from=2)
class DescribeDelegationTokenResponse:
    error_code: Int16
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: Int32
