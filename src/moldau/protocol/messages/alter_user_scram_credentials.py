"""AlterUserScramCredentials (key 51): set or remove SCRAM credentials (KIP-554)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class ScramCredentialDeletion:
    name: str
    mechanism: Int8


@struct
class ScramCredentialUpsertion:
    name: str
    mechanism: Int8
    iterations: Int32
    salt: bytes
    salted_password: bytes


@message(api_key=51, versions=range(0, 1), flexible_from=0)
class AlterUserScramCredentialsRequest:
    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]


@struct
class AlterUserScramCredentialsResult:
    user: str
    error_code: Int16
    error_message: str | None


@message(api_key=51, versions=range(0, 1), flexible_from=0)
class AlterUserScramCredentialsResponse:
    throttle_time_ms: Int32
    results: list[AlterUserScramCredentialsResult]
