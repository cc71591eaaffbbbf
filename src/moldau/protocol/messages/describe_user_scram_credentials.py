"""DescribeUserScramCredentials (key 50): show which SCRAM credentials users have (KIP-554)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class UserName:
    name: str


@message(api_key=50, versions=range(0, 1), flexible_from=0)
class DescribeUserScramCredentialsRequest:
    users: list[UserName] | None


@struct
class CredentialInfo:
    mechanism: Int8
    iterations: Int32


@struct
class DescribeUserScramCredentialsResult:
    user: str
    error_code: Int16
    error_message: str | None
    credential_infos: list[CredentialInfo]


@message(api_key=50, versions=range(0, 1), flexible_from=0)
class DescribeUserScramCredentialsResponse:
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]
