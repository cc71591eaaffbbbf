"""Tables through our broker and through Apache Kafka; and what the document about them shows."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

import moldau
from conformance.apache.broker import apache_broker
from conformance.apache.marks import needs_apache
from conformance.sent import CODECS
from moldau.client.blocking import Producer
from moldau.testing.broker import EmbeddedBroker

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


def sample(row_count: int) -> pa.Table:
    """Rows with all that records may have: nulls, empty values, headers, times."""
    numbers = range(row_count)
    headers = [[{"key": "h", "value": b"%d" % n}] if n % 3 else [] for n in numbers]
    return pa.table(
        {
            "key": pa.array([None if n % 5 == 0 else b"%d" % (n % 7) for n in numbers]),
            "value": pa.array([None if n % 11 == 0 else b"%d" % n * (n % 4) for n in numbers]),
            "timestamp": pa.array([1_000_000 + n for n in numbers], pa.int64()),
            "headers": pa.array(headers, HEADERS),
        }
    )


def there_and_back(bootstrap: str, codec: str) -> None:
    table, topic = sample(3000), f"columns-{codec}"
    with Producer[bytes, bytes](
        bootstrap_servers=bootstrap, compression_type=codec, batch_size=5000
    ) as producer:
        sent = producer.send_table(
            topic, table, key="key", timestamp="timestamp", headers="headers"
        )
        assert sent.result(60) == 3000
    found = moldau.read_topic(topic, bootstrap_servers=bootstrap)
    found = found.set_column(5, "timestamp", found["timestamp"].cast(pa.int64()))
    in_order = found.sort_by("timestamp").select(table.column_names)
    assert in_order.to_pylist() == table.to_pylist()


@pytest.mark.parametrize("codec", CODECS)
def test_tables_there_and_back_through_our_broker(kafka: EmbeddedBroker, codec: str) -> None:
    there_and_back(kafka.bootstrap_servers, codec)


@needs_apache("kafka-3.9")
def test_tables_there_and_back_through_apache_kafka(tmp_path: Path) -> None:
    settings = {"auto.create.topics.enable": "true", "num.partitions": "3"}
    with apache_broker(tmp_path, settings) as apache:
        apache.start()
        for codec in CODECS:
            there_and_back(apache.bootstrap, codec)


def test_every_block_about_columns_runs(kafka: EmbeddedBroker) -> None:
    text = (ROOT / "docs" / "columns.md").read_text()
    names: dict[str, object] = {}
    run_count = 0
    for match in BLOCK.finditer(text):
        code = compile(
            match[2].replace("localhost:9092", kafka.bootstrap_servers), "columns.md", "exec"
        )
        if match[1] == "python":  # the others need a registry
            exec(code, names)
            run_count += 1
    assert run_count >= 6
