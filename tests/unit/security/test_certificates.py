"""What a certificate says beside its owner."""

import datetime as dt
from contextlib import suppress

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from certificates import authority, identity
from moldau.security.certificates import _time, read_certificate
from moldau.security.der import DerValue

SAMPLE = identity(authority(), "anna", "10.0.0.1", days=40).certificate
DER = SAMPLE.public_bytes(Encoding.DER)


def test_owner_hosts_and_times_are_read() -> None:
    facts = read_certificate(DER)
    assert facts.owner == "CN=anna"
    assert sorted(facts.hosts) == ["10.0.0.1", "localhost"]
    assert facts.valid_from == SAMPLE.not_valid_before_utc
    assert facts.valid_until == SAMPLE.not_valid_after_utc


@pytest.mark.parametrize(
    ("tag", "text", "year"),
    [(0x17, "491231235959Z", 2049), (0x17, "500101000000Z", 1950), (0x18, "20500101000000Z", 2050)],
)
def test_years_have_two_digits_or_four(tag: int, text: str, year: int) -> None:
    assert _time(DerValue(tag, text.encode(), b"")).year == year


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="not a time"):
        _time(DerValue(0x0C, b"20500101000000Z", b""))


@given(st.integers(0, len(DER) - 1), st.integers(0, 255))
def test_a_damaged_certificate_is_a_value_error(place: int, byte: int) -> None:
    damaged = bytearray(DER)
    damaged[place] = byte
    with suppress(ValueError):
        assert isinstance(read_certificate(bytes(damaged)).valid_until, dt.datetime)
