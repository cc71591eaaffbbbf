"""The rules by which passwords are set and taken away."""

import pytest

from moldau.broker.login.user_changes import UserChange, changes_by_user, checked
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from moldau.security.scram import ScramSecret, salted_password


def setting(user: str = "anna", mechanism: int = 1, iterations: int = 4096) -> UserChange:
    salted = salted_password("SCRAM-SHA-256", "sesam", salt=b"salt", iterations=4096)
    return ScramCredentialUpsertion(
        name=user,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt",
        salted_password=salted,
    )


def taking(user: str = "anna", mechanism: int = 1) -> UserChange:
    return ScramCredentialDeletion(name=user, mechanism=mechanism)


def test_what_is_wanted_of_a_user_belongs_together() -> None:
    wanted = [taking("eve"), setting(), setting("eve", 2)]
    assert changes_by_user(wanted) == {"eve": [wanted[0], wanted[2]], "anna": [wanted[1]]}


def test_a_server_s_secret_is_made_of_the_salted_password() -> None:
    (change, gone) = checked("anna", [setting(), taking(mechanism=2)])
    expected = ScramSecret.of_password("SCRAM-SHA-256", "sesam", salt=b"salt", iterations=4096)
    assert change == ("SCRAM-SHA-256", expected)
    assert gone == ("SCRAM-SHA-512", None)


@pytest.mark.parametrize(
    ("user", "wanted", "code", "message"),
    [
        ("", [setting("")], 93, "Username must not be empty"),
        ("anna", [setting(iterations=4095)], 93, "Too few iterations"),
        ("anna", [setting(iterations=16_385)], 93, "Too many iterations"),
        ("anna", [setting(mechanism=0)], 33, "Unknown SCRAM mechanism"),
        ("anna", [taking(mechanism=3)], 33, "Unknown SCRAM mechanism"),
        (
            "anna",
            [setting(), setting()],
            92,
            "A user credential cannot be altered twice in the same request",
        ),
        (
            "anna",
            [taking(), setting()],
            92,
            "A user credential cannot be altered twice in the same request",
        ),
    ],
)
def test_what_kafka_refuses_is_refused_in_its_words(
    user: str, wanted: list[UserChange], code: int, message: str
) -> None:
    with pytest.raises(KafkaError) as caught:
        checked(user, wanted)
    assert (caught.value.code, caught.value.message) == (ErrorCode(code), message)


def test_a_salt_must_have_a_sensible_length() -> None:
    long = setting()
    assert isinstance(long, ScramCredentialUpsertion)
    for salt in (b"", b"x" * 2000):
        long.salt = salt
        with pytest.raises(KafkaError, match="length"):
            checked("anna", [long])
