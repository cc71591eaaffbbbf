"""Hostile input over real sockets: the right code or a closed connection, and nobody else hurt.

After every case a well-behaved client must find the broker as it was, and its process must
not have grown.
"""

import os
import random
import select
import socket
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.produced import produced
from conformance.apache.samples import NOW_MS
from conformance.our_broker import OurBroker, our_broker
from moldau.errors import ErrorCode
from moldau.protocol.apis import APIS
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.fetch import FetchRequest
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.messages.produce import ProduceRequest
from moldau.records.batch import BatchHeader, assemble_batch, write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.wire import Disconnected, WireClient
from unit.testing.requests import batch, fetch, metadata, produce

GROWTH_MAX_BYTES = 20 * 2**20
# The C library may keep one buffer of the largest size that is ever unpacked.
UNPACKED_MAX_BYTES = 100 * 2**20
TOPIC = "orders"
FRAME_MAX_BYTES = 4 * 2**20


SETTINGS = {
    "socket.request.max.bytes": str(FRAME_MAX_BYTES),
    "moldau.frame.timeout.ms": "1000",
    "moldau.write.stall.timeout.ms": "1000",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    """One broker for all: what one case does to it, the next one would see."""
    with our_broker(tmp_path_factory.mktemp("hostile"), SETTINGS) as running:
        with WireClient(running.bootstrap) as client:
            client.ask(metadata(TOPIC))
            # Whatever is loaded on first use is no growth.
            client.ask(produce(TOPIC, batch(b"first")))
            client.ask(fetch(TOPIC), 12)
            for codec in Codec:
                rows = [Record(0, NOW_MS, None, bytes(100_000))]
                client.ask(produce(TOPIC, bytes(write_batch(rows, attributes=codec))))
        yield running


@pytest.fixture(autouse=True)
def witness(broker: OurBroker) -> Iterator[None]:
    """A client that was connected before the case still gets its answers after it."""
    with WireClient(broker.bootstrap) as client:
        yield
        response = client.ask(produce(TOPIC, batch(b"witness")))
        (partition,) = response.responses[0].partition_responses
        assert partition.error_code == ErrorCode.NONE
        read = client.ask(fetch(TOPIC, partition.base_offset), 12)
        assert bytes(read.responses[0].partitions[0].records).endswith(b"witness\x00")


@pytest.fixture(autouse=True)
def bounds(broker: OurBroker, request: pytest.FixtureRequest) -> Iterator[None]:
    """The broker's process does not grow."""
    bound = UNPACKED_MAX_BYTES if "codec" in request.fixturenames else GROWTH_MAX_BYTES
    before = resident_bytes(broker.process_id)
    yield
    assert resident_bytes(broker.process_id) - before < bound


def resident_bytes(process_id: int) -> int:
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def client(broker: OurBroker) -> Iterator[WireClient]:
    with WireClient(broker.bootstrap, timeout_s=5) as client:
        yield client


def assert_closed(client: WireClient) -> None:
    with pytest.raises(Disconnected):
        client.receive_frame()


def request_frame(api_key: int, version: int, body: bytes, client_id: str = "hostile") -> bytes:
    return encode_request_header(RequestHeader(api_key, version, 1, client_id)) + body


# Frames


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


# Headers


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


def test_a_header_with_very_many_tags_closes_the_connection(client: WireClient) -> None:
    client.send_frame(struct.pack(">hhi", 3, 12, 1) + b"\x00\x01x" + b"\xff\xff\xff\xff\x07")
    assert_closed(client)


# Bodies


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


# Produce


def code_of(client: WireClient, request: ProduceRequest, version: int | None = None) -> int:
    response = client.ask(request, version)
    code: int = response.responses[0].partition_responses[0].error_code
    return code


@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_other_acks_than_three_are_refused(client: WireClient, acks: int) -> None:
    request = produce(TOPIC, batch(b"a"), acks=acks)
    assert code_of(client, request) == ErrorCode.INVALID_REQUIRED_ACKS


@pytest.mark.parametrize("partition", [-1, 1, 2**31 - 1, -(2**31)])
def test_a_partition_that_is_not_there_is_unknown(client: WireClient, partition: int) -> None:
    request = produce(TOPIC, batch(b"a"), partition=partition)
    assert code_of(client, request) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("topic", ["nowhere", "", "..", "a/b", "x" * 300, "\0"])
def test_a_topic_that_is_not_there_is_unknown(client: WireClient, topic: str) -> None:
    assert code_of(client, produce(topic, batch(b"a"))) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_negative_and_huge_timeouts_do_no_harm(client: WireClient) -> None:
    for timeout_ms in (-1, -(2**31), 2**31 - 1):
        request = produce(TOPIC, batch(b"a"))
        request.timeout_ms = timeout_ms
        assert code_of(client, request) == ErrorCode.NONE


@pytest.mark.parametrize("version", [3, 7, 11])
def test_records_that_are_none_are_answered(client: WireClient, version: int) -> None:
    for data in (None, b""):
        assert code_of(client, produce(TOPIC, data), version) != ErrorCode.UNKNOWN_SERVER_ERROR


def test_every_wrong_record_set_gets_a_code_for_its_partition(client: WireClient) -> None:
    for case in produced():
        if case.config:
            continue
        code = code_of(client, produce(TOPIC, bytes(case.data)), case.version)
        assert code != ErrorCode.UNKNOWN_SERVER_ERROR, case.name


def test_a_wrong_batch_with_acks_0_closes_the_connection(client: WireClient) -> None:
    client.send(produce(TOPIC, b"not a batch", acks=0))
    assert_closed(client)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_batch_that_unpacks_to_a_gigabyte_is_refused(client: WireClient, codec: Codec) -> None:
    plain = write_batch([Record(0, NOW_MS, None, b"value")])
    header = BatchHeader.read(plain)
    header.attributes = codec
    section = bomb(codec)
    assert len(section) < 2 * 2**20
    data = bytes(assemble_batch(header, section))
    for _ in range(4):
        assert code_of(client, produce(TOPIC, data)) == ErrorCode.INVALID_RECORD


def bomb(codec: Codec) -> bytes:
    """A few bytes that claim, or are, a gigabyte."""
    if codec == Codec.GZIP:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        chunk = bytes(2**20)
        return b"".join(packer.compress(chunk) for _ in range(1024)) + packer.flush()
    if codec == Codec.SNAPPY:
        # Xerial's framing, and one chunk of 2**31 - 1 bytes (CVE-2023-34455).
        return b"\x82SNAPPY\x00" + struct.pack(">iii", 1, 1, 2**31 - 1) + bytes(100)
    if codec == Codec.LZ4:
        frame = bytearray(b"\x04\x22\x4d\x18\x60\x70\x73")
        block = b"\x1f\x00\x01\x00" + b"\xff" * 16_400 + b"\x00" + b"\x50" + bytes(5)
        for _ in range(60):
            frame += struct.pack("<I", len(block)) + block
        return bytes(frame + bytes(4))
    # A zstd frame: one block of a repeated byte, 128 KiB each, 8192 times.
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x88")
    for number in range(8192):
        frame += struct.pack("<I", (number == 8191) | 1 << 1 | 131072 << 3)[:3] + b"\0"
    return bytes(frame)


# Fetch


def test_fetches_with_odd_limits_are_answered(client: WireClient) -> None:
    for max_bytes in (0, -1, -(2**31), 2**31 - 1):
        request = fetch(TOPIC)
        request.max_bytes = max_bytes
        request.topics[0].partitions[0].partition_max_bytes = max_bytes
        response = client.ask(request, 12)
        assert response.responses[0].partitions[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize("offset", [-1, -2, 2**62, 2**63 - 1, -(2**63)])
def test_an_offset_out_of_range_says_so(client: WireClient, offset: int) -> None:
    response = client.ask(fetch(TOPIC, offset), 12)
    assert response.responses[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_wait_without_end_ends_with_the_connection(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata(TOPIC))
        client.send(fetch(TOPIC, 0, max_wait_ms=2**31 - 1, min_bytes=2**31 - 1), 12)
        kafka.wait_for(lambda broker: len(broker.waiters) == 1)
    kafka.wait_for(lambda broker: len(broker.waiters) == 0)


def test_guessed_sessions_are_refused(client: WireClient) -> None:
    for session_id, epoch, code in [
        (12345, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (-5, 7, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
    ]:
        request = fetch(TOPIC)
        request.session_id, request.session_epoch = session_id, epoch
        assert client.ask(request, 12).error_code == code


def test_a_session_with_very_many_partitions_stays_bounded(client: WireClient) -> None:
    request = fetch(TOPIC)
    partition = request.topics[0].partitions[0]
    request.topics[0].partitions = [
        type(partition)(partition=number, fetch_offset=0, partition_max_bytes=1)
        for number in range(5_000)
    ]
    request.session_id, request.session_epoch = 0, 0
    response = client.ask(request, 12)
    assert len(response.responses[0].partitions) == 5_000


def test_an_unknown_isolation_level_is_answered_or_closed(client: WireClient) -> None:
    request: FetchRequest = fetch(TOPIC)
    request.isolation_level = 2
    try:
        client.ask(request, 12)
    except Disconnected:
        return


# Connections


def test_a_slow_sender_is_dropped_at_the_deadline(client: WireClient) -> None:
    client.send_bytes(struct.pack(">i", 100))
    client.socket.settimeout(0.2)
    began = time.monotonic()
    while time.monotonic() - began < 5:
        try:
            client.send_bytes(b"\0")
            client.receive_frame()
        except TimeoutError:
            continue
        except Disconnected:
            return
    pytest.fail("the connection is still open")


@pytest.fixture(scope="module")
def large(broker: OurBroker) -> str:
    """A topic with some megabytes in it."""
    with WireClient(broker.bootstrap) as filler:
        filler.ask(metadata("large"))
        rows = [Record(0, NOW_MS, None, random.Random(3).randbytes(900_000))]
        for _ in range(12):
            assert code_of(filler, produce("large", bytes(write_batch(rows)))) == ErrorCode.NONE
    return "large"


def all_of(topic: str) -> FetchRequest:
    request = fetch(topic)
    request.max_bytes = request.topics[0].partitions[0].partition_max_bytes = 50 * 2**20
    return request


def test_one_that_never_reads_its_answers_is_dropped(client: WireClient, large: str) -> None:
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(3):
        client.send(all_of(large), 12)
    poller = select.poll()
    poller.register(client.socket, select.POLLHUP | select.POLLERR)
    assert poller.poll(8000), "the connection is still open"


def test_one_that_sends_on_while_it_is_answered_gets_every_answer(
    client: WireClient, large: str
) -> None:
    client.client_id = "x" * 30_000  # so that a few requests fill the receive buffer
    for _ in range(8):
        client.send(all_of(large), 12)
    for _ in range(8):
        assert len(client.receive_frame()) > 10_000_000


def test_very_many_connections_come_and_go(broker: OurBroker) -> None:
    host, _, port = broker.bootstrap.rpartition(":")
    for _ in range(10):
        opened = [socket.create_connection((host, int(port))) for _ in range(50)]
        for connection in opened:
            connection.close()


def test_a_half_closed_connection_still_gets_its_answer(client: WireClient) -> None:
    client.send_frame(request_frame(18, 0, b""))
    client.socket.shutdown(socket.SHUT_WR)
    try:
        assert client.receive_frame()
    except Disconnected:
        return
