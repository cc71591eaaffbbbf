"""Names of certificates, as Java writes them; tests/conformance compares with Java itself."""

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from certificates import authority, identity
from moldau.security.der import read_value
from moldau.security.distinguished_names import (
    alternative_names,
    distinguished_name,
    subject_name,
)

CA = authority()


def written(*parts: tuple[x509.ObjectIdentifier, str]) -> str:
    name = x509.Name([x509.NameAttribute(kind, text) for kind, text in parts])
    return distinguished_name(read_value(name.public_bytes()))


def test_the_odd_certificate_of_the_fact_sheet() -> None:
    assert (
        written(
            (NameOID.COUNTRY_NAME, "CZ"),
            (NameOID.ORGANIZATION_NAME, "Moldau, Inc"),
            (NameOID.ORGANIZATIONAL_UNIT_NAME, "A+B"),
            (NameOID.COMMON_NAME, 'al=i"ce ö#'),
            (NameOID.EMAIL_ADDRESS, "a@b.c"),
            (NameOID.USER_ID, "u1"),
            (NameOID.SERIAL_NUMBER, "77"),
        )
        == r"2.5.4.5=#13023737,UID=u1,1.2.840.113549.1.9.1=#16056140622e63,"
        r"CN=al\=i\"ce ö\#,OU=A\+B,O=Moldau\, Inc,C=CZ"
    )


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        (" a b ", r"\ a b\ "),
        ("  ", r"\ \ "),
        ("a<b>c;d\\e", r"a\<b\>c\;d\\e"),
        ("nul\0here", r"nul\00here"),
        ("日本", "日本"),
    ],
)
def test_values_are_escaped(value: str, escaped: str) -> None:
    assert written((NameOID.COMMON_NAME, value)) == f"CN={escaped}"


def test_parts_with_several_values_keep_them_together() -> None:
    name = x509.Name(
        [
            x509.RelativeDistinguishedName(
                [
                    x509.NameAttribute(NameOID.COMMON_NAME, "a"),
                    x509.NameAttribute(NameOID.USER_ID, "b"),
                ]
            )
        ]
    )
    assert distinguished_name(read_value(name.public_bytes())) == "CN=a+UID=b"


def test_texts_of_other_kinds_are_taken_for_utf_8_as_java_does() -> None:
    attribute = x509.NameAttribute(NameOID.COMMON_NAME, "ab", _ASN1Type.BMPString)
    name = distinguished_name(read_value(x509.Name([attribute]).public_bytes()))
    assert name == r"CN=\00a\00b"


def test_a_certificate_has_a_subject_and_other_names() -> None:
    der = identity(CA, "anna").certificate.public_bytes(Encoding.DER)
    assert subject_name(der) == "CN=anna"
    assert alternative_names(der) == {b"\x87\x04\x7f\0\0\1", b"\x82\x09localhost"}
    assert alternative_names(CA.certificate.public_bytes(Encoding.DER)) == frozenset()


@given(st.integers(0, 400), st.integers(0, 255))
def test_a_damaged_certificate_is_a_value_error(place: int, byte: int) -> None:
    der = bytearray(CERTIFICATE)
    der[place % len(der)] = byte
    try:
        subject_name(bytes(der))
        alternative_names(bytes(der))
    except ValueError:
        pass


CERTIFICATE = identity(CA, "anna").certificate.public_bytes(Encoding.DER)
