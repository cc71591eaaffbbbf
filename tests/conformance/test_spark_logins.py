"""Spark logs in by everything that there is: one session, source, sink and a topology."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conformance.spark_pipeline import session
from conformance.test_logins import CERTIFICATE, TOKEN, WAYS, Secured, bearer, by_password, secured
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
    own = {"bootstrap.servers": secured.servers(way), "ssl.truststore.location": secured.trust}
    if way == CERTIFICATE:
        own |= {"security.protocol": "SSL", "ssl.keystore.location": secured.own}
    else:
        own["security.protocol"] = "SASL_SSL"
        own["sasl.mechanism"] = "SCRAM-SHA-256" if way == TOKEN else way
    if way == TOKEN:
        own |= {"sasl.username": secured.token_id, "sasl.password": secured.token_password}
        own["sasl.tokenauth"] = "true"
    elif way == "OAUTHBEARER":
        own["sasl.oauthbearer.token"] = bearer()
    elif way != CERTIFICATE:
        own |= {"sasl.username": "anna", "sasl.password": "sesam"}
    return {f"kafka.{name}": value for name, value in own.items()}


@pytest.mark.parametrize("way", [*WAYS, TOKEN])
def test_source_and_sink_log_in(spark: SparkSession, secured: Secured, way: str) -> None:
    own, topic = options(secured, way), f"spark-{way.replace(' ', '-')}"
    written = spark.createDataFrame([(f"by {way}".encode(),)], "value binary")
    written.write.format("moldau").options(**own, topic=topic).mode("append").save()
    (row,) = spark.read.format("moldau").options(**own, subscribe=topic).load().collect()
    assert bytes(row.value).decode() == f"by {way}"


def test_who_may_not_come_in_is_told_so(spark: SparkSession, secured: Secured) -> None:
    own = {**options(secured, "PLAIN"), "kafka.sasl.password": "wrong"}
    with pytest.raises(Exception, match="Authentication failed: Invalid username or password"):
        spark.read.format("moldau").options(**own, subscribe="spark-PLAIN").load().collect()


async def prepare(secured: Secured, *topics: str) -> None:
    """Topics, and the right to transactions, which only this test needs."""
    everything = Acl(
        resource_type=ResourceType.TRANSACTIONAL_ID,
        resource_name="*",
        principal="User:anna",
        operation=Operation.ALL,
    )
    async with Admin(by_password(secured, "admin", "x")) as admin:
        (await admin.create_acls([everything])).check()
        (await admin.create_topics([NewTopic(name, 1, 1) for name in topics])).check()


def test_a_topology_logs_in_and_writes_exactly_once(
    spark: SparkSession, secured: Secured, tmp_path: Path
) -> None:
    asyncio.run(prepare(secured, "lines", "words"))
    own = options(secured, "SCRAM-SHA-512")
    lines = spark.createDataFrame([(b"one two",), (b"three",)], "value binary")
    lines.write.format("moldau").options(**own, topic="lines").mode("append").save()
    builder = StreamsBuilder()
    builder.stream("lines").flat_map_values("split(value, ' ')").to("words")
    servers = own.pop("kafka.bootstrap.servers")
    clients = ApplicationOptions(servers, own)
    inputs = KafkaInputs(spark, clients.source, {}, clients.sink)
    queries = builder.build().compile(inputs, "logins")
    settings = RunSettings(clients.sink, str(tmp_path), trigger={"availableNow": True})
    run(running_queries(queries, settings), threading.Event(), lambda _queries: None)
    rows = spark.read.format("moldau").options(**options(secured, "PLAIN"), subscribe="words")
    assert sorted(bytes(row.value) for row in rows.load().collect()) == [b"one", b"three", b"two"]
