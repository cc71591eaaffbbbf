"""The rules by which SCRAM passwords are set and taken away (KIP-554)."""

from collections import Counter
from collections.abc import Iterable, Sequence

from moldau.broker.login.users import SecretChange
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from moldau.security.scram import ITERATIONS_MAX, ITERATIONS_MIN, ScramSecret

MECHANISM_NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
_MECHANISMS = {number: name for name, number in MECHANISM_NUMBERS.items()}
_BYTES_MAX = 1024
"""Of a salt; Kafka's have 26."""

UserChange = ScramCredentialDeletion | ScramCredentialUpsertion


def changes_by_user(wanted: Iterable[UserChange]) -> dict[str, list[UserChange]]:
    """What is wanted of each user, users in the order in which they are named first."""
    by_user: dict[str, list[UserChange]] = {}
    for one in wanted:
        by_user.setdefault(one.name, []).append(one)
    return by_user


def checked(user: str, wanted: Sequence[UserChange]) -> list[SecretChange]:
    """What has to be done for a user; KafkaError if part of it cannot be."""
    if not user:
        raise _unacceptable("Username must not be empty")
    for one in wanted:
        _check(one)
    counted = Counter(one.mechanism for one in wanted)
    if max(counted.values()) > 1:
        message = "A user credential cannot be altered twice in the same request"
        raise KafkaError(ErrorCode.DUPLICATE_RESOURCE, message)
    return [SecretChange(_MECHANISMS[one.mechanism], _secret(one)) for one in wanted]


def _check(one: UserChange) -> None:
    if one.mechanism not in _MECHANISMS:
        message = "Unknown SCRAM mechanism"
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, message)
    if isinstance(one, ScramCredentialUpsertion):
        if one.iterations < ITERATIONS_MIN:
            raise _unacceptable("Too few iterations")
        if one.iterations > ITERATIONS_MAX:
            raise _unacceptable("Too many iterations")
        if not 0 < len(one.salt) <= _BYTES_MAX or not 0 < len(one.salted_password) <= _BYTES_MAX:
            raise _unacceptable("Salt and salted password must have a sensible length")


def _secret(one: UserChange) -> ScramSecret | None:
    if isinstance(one, ScramCredentialDeletion):
        return None
    return ScramSecret.of_salted(
        _MECHANISMS[one.mechanism],
        bytes(one.salted_password),
        salt=bytes(one.salt),
        iterations=one.iterations,
    )


def _unacceptable(message: str) -> KafkaError:
    return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, message)
