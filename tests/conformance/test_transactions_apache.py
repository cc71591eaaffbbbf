"""A transaction that hangs is found, described and ended with Apache's tool."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from conformance.conftest import show_download
from conformance.fleet import create_topic
from conformance.our_broker import OurBroker, our_broker
from conformance.transacting import producer_of, read, until_state, write
from moldau.errors import ErrorCode
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.record import Record
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

TOPIC = "hanging"
HOUR_MS = 60 * 60 * 1000
PRODUCER_ID = 4711
# Otherwise the broker asks its coordinator first, and refuses what would hang.
SETTINGS = {"transaction.partition.verification.enable": "false"}


@pytest.fixture
def tools(request: pytest.FixtureRequest) -> Iterator[ApacheTools]:
    show_download(request, "kafka-3.9")
    with JavaProgram("tools", "kafka-3.9") as program:
        yield ApacheTools(program)


def hang(broker: OurBroker) -> None:
    """Write, an hour ago, in a transaction that no coordinator knows."""
    create_topic(broker, TOPIC, 1)
    batch = write_batch(
        [Record(0, int(time.time() * 1000) - HOUR_MS, None, b"hanging")],
        attributes=TRANSACTIONAL,
        producer=Producer(PRODUCER_ID, 3, 0),
    )
    data = TopicProduceData(
        name=TOPIC, partition_data=[PartitionProduceData(index=0, records=batch)]
    )
    request = ProduceRequest(
        transactional_id="nobody", acks=-1, timeout_ms=10_000, topic_data=[data]
    )
    with WireClient(broker.bootstrap) as client:
        (answer,) = client.ask(request, 9).responses[0].partition_responses
    assert answer.error_code == ErrorCode.NONE


def test_a_hanging_transaction_is_found_described_and_aborted(
    tools: ApacheTools, tmp_path: Path
) -> None:
    with our_broker(tmp_path, SETTINGS) as broker:

        def rows(*arguments: str) -> list[list[str]]:
            done = tools.run(
                "kafka-transactions.sh", "--bootstrap-server", broker.bootstrap, *arguments
            )
            assert done.code == 0, done
            return [line.split() for line in done.stdout.splitlines()[1:] if line.strip()]

        hang(broker)
        write(producer_of(broker, "prompt"), TOPIC, b"prompt", is_commit=True)
        until_state(broker, "prompt", "CompleteCommit")
        assert read(broker, TOPIC) == []
        where = ("--topic", TOPIC, "--partition", "0")
        (found,) = rows("find-hanging", "--broker-id", "0")
        assert found[:5] == [TOPIC, "0", str(PRODUCER_ID), "3", "-1"]
        described = {row[0]: row for row in rows("describe-producers", *where)}
        assert described[str(PRODUCER_ID)][1] == "3"
        assert described[str(PRODUCER_ID)][-1] == "0"  # where its transaction begins
        assert [row[-1] for name, row in described.items() if name != str(PRODUCER_ID)] == ["None"]
        assert rows("abort", *where, "--start-offset", "0") == []
        assert rows("find-hanging", *where) == []
        assert read(broker, TOPIC) == [b"prompt"]
        assert read(broker, TOPIC, isolation="read_uncommitted") == [b"hanging", b"prompt"]
