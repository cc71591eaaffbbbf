"""Logins of clients by the options of a login module."""

import pytest

from moldau.security.client_login import begin_by_password

OPTIONS = {"username": "anna", "password": "sesam"}


def test_plain_sends_both() -> None:
    assert begin_by_password("PLAIN", OPTIONS).begin() == b"\0anna\0sesam"


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_begins_with_a_nonce_of_its_own(mechanism: str) -> None:
    first, second = (begin_by_password(mechanism, OPTIONS) for _ in range(2))
    assert first.mechanism == mechanism
    assert first.begin() != second.begin()
    assert b"tokenauth" not in first.begin()
    token = begin_by_password(mechanism, {**OPTIONS, "tokenauth": "TRUE"})
    assert token.begin().endswith(b",tokenauth=true")
