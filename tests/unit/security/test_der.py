"""DER: values within values, and what does not add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.security.der import SEQUENCE, object_id, read_value, values_in


def test_values_follow_each_other_and_contain_others() -> None:
    value = read_value(bytes.fromhex("3006020101020102"))
    assert value.tag == SEQUENCE
    assert [one.contents for one in value.values()] == [b"\1", b"\2"]
    assert [one.whole for one in value.values()] == [b"\2\1\1", b"\2\1\2"]


def test_lengths_may_have_several_bytes() -> None:
    contents = b"x" * 300
    assert read_value(b"\x04\x82\x01\x2c" + contents).contents == contents


@pytest.mark.parametrize(
    ("encoded", "written"),
    [
        ("0603550403", "2.5.4.3"),
        ("06092a864886f70d010901", "1.2.840.113549.1.9.1"),
        ("060a0992268993f22c640119", "0.9.2342.19200300.100.1.25"),
        ("0602883f", "2.1007"),
    ],
)
def test_object_ids_have_their_dots(encoded: str, written: str) -> None:
    assert object_id(read_value(bytes.fromhex(encoded))) == written


@pytest.mark.parametrize(
    "data", ["", "04", "0405616263", "0480", "0485", "1f0100", "0400 0400", "06018f"]
)
def test_what_does_not_add_up_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        object_id(read_value(bytes.fromhex(data)))


@given(st.binary(max_size=200))
def test_rubbish_is_a_value_error_or_values(data: bytes) -> None:
    try:
        found = list(values_in(data))
    except ValueError:
        return
    assert b"".join(one.whole for one in found) == data
