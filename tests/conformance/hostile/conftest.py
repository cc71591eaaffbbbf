"""A broker for hostile clients, and what every case must leave as it was.

After every case a well-behaved client must find the broker as it was, and its process must
not have grown.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.samples import NOW_MS
from conformance.hostile.requests import FRAME_MAX_BYTES, TOPIC
from conformance.our_broker import OurBroker, our_broker
from moldau.errors import ErrorCode
from moldau.records.batch import write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, fetch, metadata, produce

GROWTH_MAX_BYTES = 20 * 2**20
# A thread may still be tidying up when the answer is here.
FREED_S = 5.0
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
def bounds(broker: OurBroker) -> Iterator[None]:
    """The broker's process does not grow for good."""
    before = resident_bytes(broker.process_id)
    yield
    deadline = time.monotonic() + FREED_S
    while (growth := resident_bytes(broker.process_id) - before) >= GROWTH_MAX_BYTES:
        assert time.monotonic() < deadline, f"grown by {growth} bytes"
        time.sleep(0.01)


def resident_bytes(process_id: int) -> int:
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def client(broker: OurBroker) -> Iterator[WireClient]:
    with WireClient(broker.bootstrap, timeout_s=5) as client:
        yield client
