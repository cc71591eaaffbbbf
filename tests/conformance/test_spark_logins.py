"""Spark logs in by everything that there is: one session, source, sink and a topology."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conformance.known_logins import (
    ADMIN_PASSWORD,
    TOKEN,
    WAYS,
    Secured,
    by_password,
    own_settings,
    secured,
)
from conformance.spark_pipeline import session
from moldau import Admin
from moldau.client.admin.topics import NewTopic
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.streams import StreamsBuilder
from moldau.streams.compile.inputs import KafkaInputs
from moldau.streams.run.clients import ApplicationOptions
from moldau.streams.run.running import RunSettings, run, running_queries

__all__ = ["secured"]  # the broker of all

pytestmark = pytest.mark.needs("java")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", "")
        patch.setenv("PYTHONPATH", "")
        warehouse = str(tmp_path_factory.mktemp("warehouse"))
        made = session("local[2]", {"spark.sql.warehouse.dir": warehouse})
        yield made
        made.stop()


def options(secured: Secured, way: str) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in own_settings(secured, way).items()}


@pytest.mark.parametrize("way", [*WAYS, TOKEN])
def test_source_and_sink_log_in(spark: SparkSession, secured: Secured, way: str) -> None:
    write_and_read(spark, secured, way, f"spark-{way.replace(' ', '-')}")


def write_and_read(spark: SparkSession, secured: Secured, way: str, topic: str) -> None:
    """One record, to a topic that has none."""
    own = options(secured, way)
    written = spark.createDataFrame([(f"by {way}".encode(),)], "value binary")
    written.write.format("moldau").options(**own, topic=topic).mode("append").save()
    (row,) = spark.read.format("moldau").options(**own, subscribe=topic).load().collect()
    assert bytes(row.value).decode() == f"by {way}"


def test_who_may_not_come_in_is_told_so(spark: SparkSession, secured: Secured) -> None:
    own = {**options(secured, "PLAIN"), "kafka.sasl.password": "wrong"}
    with pytest.raises(Exception, match="Authentication failed: Invalid username or password"):
        spark.read.format("moldau").options(**own, subscribe="spark-PLAIN").load().collect()


def test_no_command_line_has_a_secret(spark: SparkSession, secured: Secured) -> None:
    write_and_read(spark, secured, TOKEN, "spark-secret")
    commands = [command_in(each) for each in Path("/proc").glob("[0-9]*/cmdline")]
    assert any(b"org.apache.spark" in each for each in commands)
    assert not [each for each in commands if secured.token_password.encode() in each]


def command_in(file: Path) -> bytes:
    """What it has; nothing once its process has ended."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


async def prepare(secured: Secured, *topics: str) -> None:
    """Topics, and the right to transactions, which only this test needs."""
    everything = Acl(
        resource_type=ResourceType.TRANSACTIONAL_ID,
        resource_name="*",
        principal="User:anna",
        operation=Operation.ALL,
    )
    async with Admin(by_password(secured, "admin", ADMIN_PASSWORD)) as admin:
        (await admin.create_acls([everything])).check()
        (await admin.create_topics([NewTopic(name, 1, 1) for name in topics])).check()


@pytest.mark.parametrize("way", [*WAYS, TOKEN])
def test_a_topology_logs_in_and_writes_exactly_once(
    spark: SparkSession, secured: Secured, way: str, tmp_path: Path
) -> None:
    name = way.replace(" ", "-")
    read, words = f"lines-{name}", f"words-{name}"
    asyncio.run(prepare(secured, read, words))
    own = options(secured, way)
    lines = spark.createDataFrame([(b"one two",), (b"three",)], "value binary")
    lines.write.format("moldau").options(**own, topic=read).mode("append").save()
    builder = StreamsBuilder()
    builder.stream(read).flat_map_values("split(value, ' ')").to(words)
    servers = own.pop("kafka.bootstrap.servers")
    clients = ApplicationOptions(servers, own)
    inputs = KafkaInputs(spark, clients.source, {}, clients.sink)
    queries = builder.build().compile(inputs, f"logins-{name}")
    settings = RunSettings(clients.sink, str(tmp_path), trigger={"availableNow": True})
    run(running_queries(queries, settings), threading.Event(), lambda _queries: None)
    rows = spark.read.format("moldau").options(**options(secured, "PLAIN"), subscribe=words)
    assert sorted(bytes(row.value) for row in rows.load().collect()) == [b"one", b"three", b"two"]
