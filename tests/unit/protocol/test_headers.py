"""Headers, with the exceptions that Kafka's history left in them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.protocol.apis import APIS, Api
from moldau.protocol.headers import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
    request_header_version,
    response_header_version,
)

PRODUCE, CONTROLLED_SHUTDOWN, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 0, 7, 17, 18, 36


@pytest.mark.parametrize(
    ("api_key", "api_version", "request_version", "response_version"),
    [
        (PRODUCE, 8, 1, 0),
        (PRODUCE, 9, 2, 1),
        (CONTROLLED_SHUTDOWN, 0, 0, 0),
        (CONTROLLED_SHUTDOWN, 1, 1, 0),
        (CONTROLLED_SHUTDOWN, 3, 2, 1),
        (SASL_HANDSHAKE, 1, 1, 0),
        (SASL_AUTHENTICATE, 2, 2, 1),
        (API_VERSIONS, 2, 1, 0),
        (API_VERSIONS, 3, 2, 0),
        (API_VERSIONS, 99, 2, 0),
    ],
)
def test_header_versions(
    api_key: int, api_version: int, request_version: int, response_version: int
) -> None:
    assert request_header_version(api_key, api_version) == request_version
    assert response_header_version(api_key, api_version) == response_version


def test_golden_bytes() -> None:
    assert encode_request_header(RequestHeader(7, 0, 1, "ignored")).hex() == "0007000000000001"
    assert encode_request_header(RequestHeader(0, 8, 1, "me")).hex() == "000000080000000100026d65"
    assert encode_request_header(RequestHeader(0, 8, 1)).hex() == "0000000800000001ffff"
    assert encode_request_header(RequestHeader(0, 9, 1, "me")).hex() == "000000090000000100026d6500"
    assert encode_response_header(258, PRODUCE, 8).hex() == "00000102"
    assert encode_response_header(258, PRODUCE, 9).hex() == "0000010200"
    assert encode_response_header(258, API_VERSIONS, 3).hex() == "00000102"


@settings(deadline=None)
@given(
    api=st.sampled_from(APIS),
    correlation_id=st.integers(-(2**31), 2**31 - 1),
    client_id=st.none() | st.text(max_size=20),
)
def test_headers_come_back(api: Api, correlation_id: int, client_id: str | None) -> None:
    for version in api.versions:
        header = RequestHeader(api.key, version, correlation_id, client_id)
        encoded = encode_request_header(header)
        if request_header_version(api.key, version) == 0:
            header.client_id = None
        assert decode_request_header(b"??" + encoded + b"body", 2) == (header, 2 + len(encoded))
        encoded = encode_response_header(correlation_id, api.key, version)
        decoded = decode_response_header(memoryview(encoded + b"body"), api.key, version)
        assert decoded == (correlation_id, len(encoded))


def test_tagged_fields_of_headers_are_skipped() -> None:
    tail = b"\x01\x00\x03abc"
    request = encode_request_header(RequestHeader(0, 9, 1, "me"))[:-1] + tail
    assert decode_request_header(request + b"body") == (RequestHeader(0, 9, 1, "me"), len(request))
    response = encode_response_header(1, PRODUCE, 9)[:-1] + tail
    assert decode_response_header(response + b"body", PRODUCE, 9) == (1, len(response))


@pytest.mark.parametrize(
    "malformed",
    [
        "",
        "0000",
        "ffff 0000 00000001 ffff",
        "7fff 0000 00000001 ffff",
        "0000 0009 00000001 fffe 00",
        "0000 0009 00000001 7fff 6d",
        "0000 0009 00000001 0001 ff 00",
        "0000 0009 00000001 0001 6d",
        "0000 0009 00000001 0001 6d ffffffff0f",
        "0000 0009 00000001 0001 6d 01 00 7f",
        "0000 0009 00000001 0001 6d 02 01 00 01 00",
    ],
    ids=[
        "nothing",
        "half",
        "key -1",
        "key 32767",
        "client id of length -2",
        "client id past the end",
        "client id not UTF-8",
        "no tagged fields",
        "2^32 tagged fields",
        "tagged field past the end",
        "tag twice",
    ],
)
def test_malformed_request_headers_are_refused(malformed: str) -> None:
    with pytest.raises(ProtocolError):
        decode_request_header(bytes.fromhex(malformed))


@pytest.mark.parametrize("malformed", ["", "000000", "00000001", "00000001 01 00 05"])
def test_malformed_response_headers_are_refused(malformed: str) -> None:
    with pytest.raises(ProtocolError):
        decode_response_header(bytes.fromhex(malformed), PRODUCE, 9)
