"""Topics as tables, from one bound to another."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

import moldau
from moldau.client.arrow.json_values import Json
from moldau.client.arrow.reading import Bound
from moldau.client.blocking import Consumer, Producer
from moldau.errors import UnknownTopicOrPartition
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call

T0 = TopicPartition("t", 0)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"num.partitions": "2"}


@pytest.fixture
def written(kafka: EmbeddedBroker) -> EmbeddedBroker:
    """A hundred numbers in each of two partitions, a second from each other."""
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(100):
            for partition in range(2):
                producer.send("t", b"%d" % number, partition=partition, timestamp_ms=1000 * number)
    return kafka


def numbers(table: pa.Table, partition: int) -> list[int]:
    rows = table.filter(pa.compute.field("partition") == partition)
    return [int(each) for each in rows["value"].to_pylist()]


def test_a_whole_topic_is_one_table(written: EmbeddedBroker) -> None:
    table = moldau.read_topic("t", bootstrap_servers=written.bootstrap_servers)
    assert table.num_rows == 200
    for partition in range(2):
        assert numbers(table, partition) == list(range(100))


def test_the_first_request_is_for_the_start_and_not_for_the_end(written: EmbeddedBroker) -> None:
    """A request for records after the end would wait for `fetch.max.wait.ms`."""
    wanted: list[int] = []

    def note(call: Call) -> None:
        wanted.extend(
            each.fetch_offset for topic in call.request.topics for each in topic.partitions
        )

    written.control("Fetch", note)
    table = moldau.read_topic("t", bootstrap_servers=written.bootstrap_servers)
    assert table.num_rows == 200
    assert wanted[:2] == [0, 0]


def test_reading_does_not_import_pandas(written: EmbeddedBroker) -> None:
    """It takes a second, and pyarrow imports it for small things if it is installed."""
    servers = written.bootstrap_servers
    code = (
        "import moldau, sys;"
        f"rows = moldau.read_topic('t', bootstrap_servers={servers!r}).num_rows;"
        "print(rows, 'pandas' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "200 False\n"


@pytest.mark.parametrize("read", [moldau.read_topic, moldau.stream_topic])
def test_reading_creates_no_topic(kafka: EmbeddedBroker, read: Callable[..., object]) -> None:
    with pytest.raises(UnknownTopicOrPartition, match="typo"):
        read("typo", bootstrap_servers=kafka.bootstrap_servers)
    assert kafka.look(lambda broker: list(broker.metadata.image.topics)) == []


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (10, 20, range(10, 20)),
        (-5, "latest", range(95, 100)),
        ({0: 98, 1: 98}, 1000, range(98, 100)),
        (datetime.fromtimestamp(50, UTC), datetime.fromtimestamp(52, UTC), range(50, 52)),
        (datetime.fromtimestamp(5000, UTC), "latest", range(0)),
        ("latest", "latest", range(0)),
        (60, 40, range(0)),
    ],
)
def test_bounds_are_offsets_or_times(
    written: EmbeddedBroker, start: Bound, end: Bound, expected: range
) -> None:
    table = moldau.read_topic(
        "t",
        start=start,
        end=end,
        columns=["partition", "value"],
        bootstrap_servers=written.bootstrap_servers,
    )
    assert table.column_names == ["partition", "value"]
    for partition in range(2):
        assert numbers(table, partition) == list(expected)


def test_a_topic_can_be_streamed(written: EmbeddedBroker) -> None:
    reader = moldau.stream_topic(
        "t", bootstrap_servers=written.bootstrap_servers, max_partition_fetch_bytes=500
    )
    batches = list(reader)
    assert len(batches) >= 2
    assert sum(batch.num_rows for batch in batches) == 200


@pytest.mark.parametrize("bound", ["first", None, datetime(2026, 1, 1)])  # noqa: DTZ001
def test_a_bound_that_means_nothing_is_refused(written: EmbeddedBroker, bound: Bound) -> None:
    with pytest.raises((TypeError, ValueError), match=r"neither earliest nor latest|no time zone"):
        moldau.read_topic("t", start=bound, bootstrap_servers=written.bootstrap_servers)


def test_a_consumer_polls_tables_and_rows_in_turn(written: EmbeddedBroker) -> None:
    with Consumer[bytes, bytes](
        bootstrap_servers=written.bootstrap_servers,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=500,
    ) as consumer:
        consumer.assign([T0])
        found = [int(next(consumer).value or b"") for _ in range(3)]
        while len(found) < 60:
            found += [int(each) for each in consumer.poll_table(10)["value"].to_pylist()]
            assert consumer.position(T0) == len(found)
        while len(found) < 100:
            found += [int(record.value or b"") for record in consumer.poll(10)]
        assert found == list(range(100))
        assert consumer.poll_table(0.01).num_rows == 0


def test_polled_tables_may_be_typed_and_what_does_not_fit_is_not_lost(
    kafka: EmbeddedBroker,
) -> None:
    servers = kafka.bootstrap_servers
    with Producer[bytes, bytes](bootstrap_servers=servers) as producer:
        for number in range(3):
            producer.send("t", b'{"id": %d}' % number, key=b'{"k": "x"}', partition=0)
            producer.flush()
    key, value = Json({"k": pa.string()}), Json({"id": pa.int64()})
    with Consumer[bytes, bytes](
        bootstrap_servers=servers, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([T0])
        with pytest.raises(ValueError, match="does not fit the schema"):
            consumer.poll_table(10, value=Json({"id": pa.bool_()}))
        assert consumer.position(T0) == 0
        found: list[dict[str, object]] = []
        while len(found) < 3:
            table = consumer.poll_table(10, columns=["key", "value"], key=key, value=value)
            found += table.to_pylist()
    assert found == [{"key": {"k": "x"}, "value": {"id": number}} for number in range(3)]


def test_keys_and_values_may_be_typed(kafka: EmbeddedBroker) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        producer.send("typed", b'{"total": 5}', key=b'{"id": 1}', partition=0)
        producer.send("typed", None, key=b'{"id": 2}', partition=0)
    table = moldau.read_topic(
        "typed",
        columns=["key", "value"],
        key=Json({"id": pa.int64()}),
        value=Json({"total": pa.int64()}),
        bootstrap_servers=kafka.bootstrap_servers,
    )
    assert table.to_pylist() == [
        {"key": {"id": 1}, "value": {"total": 5}},
        {"key": {"id": 2}, "value": None},
    ]
