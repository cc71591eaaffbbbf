"""Connections that are slow, silent or too many."""

import random
import select
import socket
import struct
import time

import pytest

from conformance.apache.samples import NOW_MS
from conformance.hostile.requests import code_of, request_frame
from conformance.our_broker import OurBroker
from moldau.errors import ErrorCode
from moldau.protocol.messages.fetch import FetchRequest
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.testing.wire import Disconnected, WireClient
from unit.testing.requests import fetch, metadata, produce


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


def test_a_half_closed_connection_gets_the_answers_to_what_it_sent_and_is_closed(
    client: WireClient,
) -> None:
    frame = request_frame(18, 0, b"")
    client.send_bytes((len(frame).to_bytes(4, "big") + frame) * 3)
    client.socket.shutdown(socket.SHUT_WR)
    for _ in range(3):
        assert client.receive_frame()
    with pytest.raises(Disconnected):
        client.receive_frame()
