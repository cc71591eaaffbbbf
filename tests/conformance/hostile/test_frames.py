"""Frames and headers that are no requests: answered in the oldest version, or hung up on."""

import struct
import time

import pytest

from conformance.hostile.requests import FRAME_MAX_BYTES, TOPIC, assert_closed, request_frame
from conformance.our_broker import OurBroker
from moldau.errors import ErrorCode
from moldau.testing.wire import WireClient
from unit.testing.requests import metadata


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, FRAME_MAX_BYTES + 1, 0x16030100])
def test_a_frame_of_a_forbidden_size_closes_the_connection(client: WireClient, size: int) -> None:
    client.send_bytes(struct.pack(">i", size))
    assert_closed(client)


@pytest.mark.parametrize("size", range(8))
def test_a_frame_too_short_for_a_header_closes_the_connection(
    client: WireClient, size: int
) -> None:
    client.send_frame(bytes(size))
    assert_closed(client)


def test_the_largest_frame_and_then_silence_is_closed_at_the_deadline(client: WireClient) -> None:
    client.send_bytes(struct.pack(">i", FRAME_MAX_BYTES))
    began = time.monotonic()
    assert_closed(client)
    assert 0.5 < time.monotonic() - began < 4


def test_a_size_and_a_hang_up_leave_nothing_behind(client: WireClient) -> None:
    client.send_bytes(struct.pack(">i", 1000))
    client.close()


def test_a_request_byte_by_byte_is_answered(client: WireClient) -> None:
    frame = request_frame(18, 0, b"")
    for byte in struct.pack(">i", len(frame)) + frame:
        client.send_bytes(bytes([byte]))
    assert client.receive_frame()


def test_bytes_of_another_protocol_close_the_connection(broker: OurBroker) -> None:
    for greeting in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"):
        with WireClient(broker.bootstrap, timeout_s=5) as client:
            client.send_bytes(greeting)
            assert_closed(client)


@pytest.mark.parametrize("api_key", [-1, 32767, 88, 1000, -32768])
def test_an_unknown_api_closes_the_connection(client: WireClient, api_key: int) -> None:
    client.send_frame(struct.pack(">hhi", api_key, 0, 1) + b"\x00\x01x")
    assert_closed(client)


@pytest.mark.parametrize("version", [-1, 13, 32767])
def test_an_unknown_version_closes_the_connection(client: WireClient, version: int) -> None:
    client.send_frame(struct.pack(">hhi", 3, version, 1) + b"\x00\x01x\x00")
    assert_closed(client)


@pytest.mark.parametrize("version", [-1, 5, 32767])
def test_an_unknown_version_of_api_versions_is_answered_in_the_oldest(
    client: WireClient, version: int
) -> None:
    client.send_frame(struct.pack(">hhi", 18, version, 7) + b"\x00\x01x\x00")
    correlation_id, code = struct.unpack_from(">ih", client.receive_frame())
    assert (correlation_id, code) == (7, ErrorCode.UNSUPPORTED_VERSION)


@pytest.mark.parametrize(
    "client_id",
    [b"\xff\xfe", b"\x00\x05ab", b"\x00\x02\xff\xff", b"\x7f\xff" + b"x" * 100],
    ids=["length -2", "too short", "no UTF-8", "length 32767"],
)
def test_a_broken_client_id_closes_the_connection(client: WireClient, client_id: bytes) -> None:
    client.send_frame(struct.pack(">hhi", 3, 1, 1) + client_id)
    assert_closed(client)


@pytest.mark.parametrize("client_id", [None, "x" * 32767])
def test_an_unusual_client_id_is_served(client: WireClient, client_id: str | None) -> None:
    client.client_id = client_id  # type: ignore[assignment]
    assert client.ask(metadata(TOPIC)).topics[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", [1, 12])
def test_a_header_of_another_version_closes_the_connection(
    client: WireClient, version: int
) -> None:
    """Version 1 of Metadata has a header without tags, version 12 one with them."""
    tags = b"\x00" if version == 1 else b""
    body = struct.pack(">i", -1) if version == 1 else b"\x7f\x07orders"
    client.send_frame(struct.pack(">hhi", 3, version, 1) + b"\x00\x01x" + tags + body)
    assert_closed(client)


def test_a_header_with_very_many_tags_closes_the_connection(client: WireClient) -> None:
    client.send_frame(struct.pack(">hhi", 3, 12, 1) + b"\x00\x01x" + b"\xff\xff\xff\xff\x07")
    assert_closed(client)
