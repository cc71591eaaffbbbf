"""The examples of topologies do what they say; the word count does it on Apache Kafka."""

import json as json_text
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from conformance.apache.broker import apache_broker, free_port
from conformance.apache.marks import needs_apache
from conformance.transacting import DEADLINE_S
from moldau.streams import json
from moldau.streams.run.app import load_app
from moldau.streams.testing.driver import TestDriver, local_session
from moldau.streams.testing.processors import ProcessorDriver

pytestmark = pytest.mark.needs("java")
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
OUTPUT = "streams-wordcount-output"
LINES = ("all streams lead to kafka", "hello kafka streams", "join kafka summit")
MINUTE_MS = 60_000


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    # Workers are processes of their own: they need this interpreter and these packages.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        session = local_session()
        yield session
        session.stop()


def driver(name: str, spark: SparkSession) -> TestDriver:
    app = load_app(str(EXAMPLES / f"{name}.py"))
    return TestDriver(app.topology, application=app.application, spark=spark)


@pytest.mark.parametrize("name", ["word_count", "sessions", "enrichment", "fraud_alerts"])
def test_an_example_is_an_application(name: str) -> None:
    app = load_app(str(EXAMPLES / f"{name}.py"))
    assert app.topology.describe().startswith("Topologies:")
    assert app.application


def test_a_visit_is_told_when_it_is_over(spark: SparkSession) -> None:
    with driver("sessions", spark) as visits:
        for page, minute in (("/", 0), ("/cart", 20), ("/", 100)):
            value = json_text.dumps({"page": page, "millis": 500}).encode()
            visits.pipe("clicks", key=b"ann", value=value, timestamp_ms=minute * MINUTE_MS)
        visits.pipe("clicks", key=b"ann", value=b"what?", timestamp_ms=100 * MINUTE_MS)
        visits.run()
        told = json("pages bigint, millis bigint, cart boolean")
        assert visits.last_values("visits", value=told) == {
            "ann": {"pages": 2, "millis": 1000, "cart": True}
        }
        assert [each.value for each in visits.raw("clicks-unreadable")] == [b"what?"]


def test_the_third_payment_within_a_minute_is_an_alert_if_it_is_large() -> None:
    watching = runpy.run_path(str(EXAMPLES / "fraud_alerts.py"))["Watching"]
    driver = ProcessorDriver(watching())

    def alerts(card: str, amount: float, second: int) -> list[object]:
        value = {"amount": amount, "shop": "kiosk"}
        return [each.value for each in driver.pipe(card, value, timestamp_ms=second * 1000)]

    assert alerts("a", 600.0, 10) == alerts("a", 600.0, 30) == alerts("b", 600.0, 30) == []
    assert alerts("a", 600.0, 70) == ["3 payments, the last of 600.0"]
    assert alerts("a", 600.0, 140) == []
    assert alerts("b", 5.0, 31) == alerts("b", 5.0, 32) == []
    # The timer clears what was remembered of a card.
    assert driver.advance_to(400_000) == []
    assert alerts("a", 600.0, 401) == []


def test_orders_are_enriched_and_added_up_by_country(spark: SparkSession) -> None:
    with driver("enrichment", spark) as orders:
        customer = {"name": "Ann", "country": "CZ"}
        orders.pipe("customers", key="1", value=customer, timestamp_ms=0)
        orders.run()
        for key, price in (("1", 2.5), ("2", 9.0), ("1", 4.0)):
            value = {"item": "boat", "price": price}
            orders.pipe("orders", key=key, value=value, timestamp_ms=1000)
        orders.run()
        enriched = orders.read("orders-enriched", value=json("item string"))
        assert [each.value for each in enriched] == [
            {"item": "boat", "price": price, **customer} for price in (2.5, 4.0)
        ]
        (spent,) = orders.raw("spent-by-country")
        assert (spent.key, spent.value) == (b"CZ" + bytes(8), b"6.5")


@needs_apache("kafka-3.9")
def test_words_are_counted_on_apache_kafka_after_a_login(tmp_path: Path) -> None:
    door = f"127.0.0.1:{free_port()}"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    login = {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
            f'{module} required user_anna="sesam";'
        ),
    }
    with apache_broker(tmp_path / "apache") as broker:
        doors = f"PLAINTEXT://{broker.bootstrap},SASL_PLAINTEXT://{door}"
        broker.settings = {**login, "listeners": doors}
        broker.start()
        servers = broker.bootstrap
        topics = [NewTopic(name, 1, 1) for name in ("streams-plaintext-input", OUTPUT)]
        admin = AdminClient({"bootstrap.servers": servers})
        for made in admin.create_topics(topics).values():
            made.result(DEADLINE_S)
        producer = Producer({"bootstrap.servers": servers})
        for line in LINES:
            producer.produce("streams-plaintext-input", line)
        assert producer.flush(DEADLINE_S) == 0
        run_word_count(door, tmp_path)
        often = {"streams": 2, "kafka": 3}
        once = dict.fromkeys(("all", "lead", "to", "hello", "join", "summit"), 1)
        assert counts(servers) == often | once


def run_word_count(servers: str, directory: Path) -> None:
    """Over a door that lets in whoever has a password."""
    (directory / "client.properties").write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=anna\n"
    )
    command = [
        *(sys.executable, "-m", "moldau", "streams", "run", str(EXAMPLES / "word_count.py")),
        *("--bootstrap-server", servers, "--available-now", "--master", "local[2]"),
        *("--checkpoint", str(directory / "checkpoint")),
        *("--command-config", str(directory / "client.properties")),
        *("--option", "kafka.sasl.password=sesam", "--option", "kafka.compression.type=gzip"),
        *("--conf", "spark.sql.shuffle.partitions=1", "--conf", "spark.ui.enabled=false"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run(command, env=environment, check=True, timeout=DEADLINE_S * 8, cwd=directory)


def counts(servers: str) -> dict[str, int]:
    """The last count of each word that was committed."""
    settings = {"bootstrap.servers": servers, "group.id": "reader"}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    consumer.assign([TopicPartition(OUTPUT, 0, 0)])
    found: dict[str, int] = {}
    while len(found) < 8:
        message = consumer.poll(DEADLINE_S)
        assert message is not None, f"no more than {found}"
        assert message.error() is None
        key, value = message.key(), message.value()
        assert key is not None
        assert value is not None
        found[bytes(key).decode()] = int.from_bytes(value, "big")
    consumer.close()
    return found
