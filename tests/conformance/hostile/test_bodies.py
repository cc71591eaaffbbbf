"""Bodies that lie about their sizes, of every API."""

import random
import socket
import struct

import pytest

from conformance.hostile.requests import TOPIC, assert_closed, request_frame
from conformance.our_broker import OurBroker
from moldau.protocol.apis import APIS
from moldau.protocol.codec import encode
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, fetch, produce


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (1, struct.pack(">i", -2)),
        (1, struct.pack(">i", 2**31 - 1)),
        (1, struct.pack(">i", 10**6) + bytes(10)),
        (1, struct.pack(">ih", 1, -2)),
        (1, struct.pack(">ih", 1, 100) + b"short"),
        (9, b"\xff\xff\xff\xff\xff\xff\x01"),
        (9, b"\xff\xff\xff\xff\x0f"),
        (9, b"\x02\x00\x00\x01\x00\x00\x00"),
        (9, b"\x01\x01\x00\x00\x01\x05\x7f"),
    ],
    ids=[
        "array of -2",
        "array of 2**31-1",
        "array of a million in ten bytes",
        "string of -2",
        "string longer than the rest",
        "varint of seven bytes",
        "compact array of 2**32",
        "null where none is allowed",
        "tagged field longer than the rest",
    ],
)
def test_a_body_that_lies_about_its_sizes_closes_the_connection(
    client: WireClient, version: int, body: bytes
) -> None:
    client.send_frame(request_frame(3, version, body))
    assert_closed(client)


@pytest.mark.parametrize("name", [b"\xed\xa0\x80", b"\xed\xb0\x80\xed\xa0\x80", b"\xc0\x80"])
def test_a_string_that_is_no_utf8_closes_the_connection(client: WireClient, name: bytes) -> None:
    """Lone surrogates, and a zero in two bytes, which Java's own encoding has."""
    client.send_frame(request_frame(3, 1, struct.pack(">ih", 1, len(name)) + name))
    assert_closed(client)


@pytest.mark.parametrize("size", [0, 1, 3, 5, 200])
def test_a_known_tagged_field_of_the_wrong_size_closes_the_connection(
    client: WireClient, size: int
) -> None:
    """Fetch's cluster id is tag 0 of version 12: a string of three needs four bytes."""
    body = encode(fetch(TOPIC), 12)
    assert body.endswith(b"\x00")
    size_bytes = bytes([size & 0x7F | 0x80, size >> 7]) if size > 127 else bytes([size])
    client.send_frame(request_frame(1, 12, body[:-1] + b"\x01\x00" + size_bytes + b"\x04abc"))
    assert_closed(client)


def test_an_unknown_tagged_field_is_ignored(client: WireClient) -> None:
    body = encode(MetadataRequest(topics=[]), 12)
    assert body.endswith(b"\x00")
    client.send_frame(request_frame(3, 12, body[:-1] + b"\x01\x63\x03abc"))
    assert client.receive_frame()


def test_nested_arrays_of_nested_arrays_take_no_memory(client: WireClient) -> None:
    topics = struct.pack(">i", 10**5) + struct.pack(">hi", 0, 10**5) * 1000
    client.send_frame(request_frame(1, 4, struct.pack(">iiiib", -1, 0, 0, 0, 0) + topics))
    assert_closed(client)


def test_every_prefix_of_a_request_closes_the_connection(broker: OurBroker) -> None:
    whole = request_frame(0, 9, encode(produce(TOPIC, batch(b"prefix")), 9))
    for length in range(0, len(whole), 3):
        with WireClient(broker.bootstrap, timeout_s=5) as client:
            client.send_frame(whole[:length])
            assert_closed(client)


def test_random_bodies_of_every_api_break_nothing(broker: OurBroker) -> None:
    draw = random.Random(17)
    controller_only = {4, 5, 6, 7}  # they would rearrange the cluster if they happened to decode
    for api in APIS:
        if api.key in controller_only:
            continue
        for version in (api.versions[0], api.versions[-1]):
            with WireClient(broker.bootstrap, timeout_s=5) as client:
                body = draw.randbytes(draw.randrange(60))
                client.send_frame(request_frame(api.key, version, body))
                client.socket.shutdown(socket.SHUT_WR)
                try:
                    while client.socket.recv(65536):
                        pass
                except ConnectionResetError:
                    continue
