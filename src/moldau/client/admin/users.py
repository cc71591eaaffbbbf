"""Users with SCRAM passwords (KIP-554)."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from moldau.client.admin.area import AdminArea, names
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.routing import outcome
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from moldau.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)
from moldau.security.scram import MECHANISMS, SALT_BITS, salt_of, salted_password

_NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
_NAMES = {number: name for name, number in _NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """A password that a user has, as far as it is shown."""

    mechanism: str
    iterations: int


@dataclass(frozen=True, slots=True)
class ScramPassword:
    """A password that a user shall have; it does not leave this process, a hash of it does."""

    user: str
    password: str = field(repr=False)
    mechanism: str = "SCRAM-SHA-512"
    iterations: int = 4096


@dataclass(frozen=True, slots=True)
class ScramDeletion:
    """A password that a user shall not have any more."""

    user: str
    mechanism: str = "SCRAM-SHA-512"


class UsersArea(AdminArea):
    """The part of the Admin client for SCRAM users."""

    async def describe_user_scram_credentials(
        self, users: str | Iterable[str] | None = None
    ) -> Outcomes[str, list[ScramCredential]]:
        """Which passwords these users have, or all users."""
        wanted = None if users is None else [UserName(name=name) for name in names(users)]
        request = DescribeUserScramCredentialsRequest(users=wanted)
        answer = await self._router.anyone(request, DescribeUserScramCredentialsResponse)
        return Outcomes(
            {
                each.user: outcome(
                    each.error_code,
                    [
                        ScramCredential(_NAMES.get(info.mechanism, "UNKNOWN"), info.iterations)
                        for info in each.credential_infos
                    ],
                    each.error_message,
                )
                for each in answer.results
            }
        )

    async def alter_user_scram_credentials(
        self, changes: Iterable[ScramPassword | ScramDeletion]
    ) -> Outcomes[str, None]:
        """Give passwords to users, and take them away."""
        wanted = list(changes)
        for each in wanted:
            if each.mechanism not in MECHANISMS:
                reason = f"{each.mechanism} is none of {', '.join(MECHANISMS)}"
                raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, reason)
        request = AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name=each.user, mechanism=_NUMBERS[each.mechanism])
                for each in wanted
                if isinstance(each, ScramDeletion)
            ],
            upsertions=[_upsertion(each) for each in wanted if isinstance(each, ScramPassword)],
        )
        answer = await self._router.controller(request, AlterUserScramCredentialsResponse)
        return Outcomes(
            {
                each.user: outcome(each.error_code, None, each.error_message)
                for each in answer.results
            }
        )


def _upsertion(wanted: ScramPassword) -> ScramCredentialUpsertion:
    salt = salt_of(secrets.randbits(SALT_BITS))
    return ScramCredentialUpsertion(
        name=wanted.user,
        mechanism=_NUMBERS[wanted.mechanism],
        iterations=wanted.iterations,
        salt=salt,
        salted_password=salted_password(
            wanted.mechanism, wanted.password, salt=salt, iterations=wanted.iterations
        ),
    )
