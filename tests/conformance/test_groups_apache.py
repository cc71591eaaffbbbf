"""Apache Kafka's own group tools, consumers and log dump against our broker."""

import asyncio
import json
import re
import subprocess
from pathlib import Path

import aiokafka
import kafka
import pytest
from aiokafka import AIOKafkaConsumer
from kafka import KafkaConsumer

from conformance.apache.jars import class_path
from conformance.apache.jvm import java_command, run_main
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from conformance.our_broker import OurBroker, our_broker

pytestmark = needs_apache("kafka-3.9")

DEADLINE_S = 60


class Tools:
    """Apache's tools against one broker."""

    def __init__(self, tools: ApacheTools, broker: OurBroker) -> None:
        self.run = tools.run
        self._bootstrap = broker.bootstrap

    def produce(self, topic: str, count: int) -> None:
        sent = self.run(
            "kafka-producer-perf-test.sh",
            *("--topic", topic, "--num-records", str(count), "--record-size", "10"),
            *("--throughput", "-1", "--producer-props", f"bootstrap.servers={self._bootstrap}"),
        )
        assert f"{count} records sent" in sent.stdout, sent.stderr

    def groups(self, *arguments: str) -> str:
        script = "kafka-consumer-groups.sh"
        told = self.run(script, "--bootstrap-server", self._bootstrap, *arguments)
        return told.stdout + told.stderr


@pytest.fixture
def apache(tools: ApacheTools, broker: OurBroker) -> Tools:
    return Tools(tools, broker)


def consume(broker: OurBroker, topic: str, count: int, group: str) -> None:
    """Read with a consumer of the group, which commits."""
    run = run_main(
        "org.apache.kafka.tools.VerifiableConsumer",
        *("--bootstrap-server", broker.bootstrap, "--topic", topic, "--group-id", group),
        *("--max-messages", str(count), "--reset-policy", "earliest"),
    )
    events = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert sum(each["count"] for each in events if each["name"] == "records_consumed") == count
    assert events[-1]["name"] == "shutdown_complete", run.stderr


def test_lag_is_described_and_offsets_are_reset(apache: Tools, broker: OurBroker) -> None:
    apache.produce("lag", 100)
    consume(broker, "lag", 100, "lag-group")
    apache.produce("lag", 5)
    described = apache.groups("--describe", "--group", "lag-group")
    assert re.search(r"lag-group\s+lag\s+0\s+100\s+105\s+5\s", described), described
    assert "lag-group" in apache.groups("--list")
    assert re.search(r"lag-group\s+.*Empty", apache.groups("--list", "--state"))
    to_earliest = ("--reset-offsets", "--to-earliest", "--execute", "--topic", "lag")
    assert re.search(r"lag\s+0\s+0\b", apache.groups("--group", "lag-group", *to_earliest))
    deleted = apache.groups("--delete-offsets", "--group", "lag-group", "--topic", "lag")
    assert "Successful" in deleted, deleted


async def test_lag_of_groups_of_clients_in_python_is_described(
    apache: Tools, broker: OurBroker
) -> None:
    apache.produce("lags", 5)
    settings = {
        "bootstrap_servers": broker.bootstrap,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
    }
    other = KafkaConsumer("lags", group_id="kafka-python-lags", **settings)
    async with AIOKafkaConsumer("lags", group_id="aiokafka-lags", **settings) as reader:
        assert (await reader.getone()).offset == 0
        await reader.commit({aiokafka.TopicPartition("lags", 0): 1})
        # One poll: of kafka-python's many short ones, one may hang, with Apache's broker as well.
        polled = await asyncio.to_thread(other.poll, timeout_ms=DEADLINE_S * 1000)
        assert list(polled) == [kafka.TopicPartition("lags", 0)]
        position = kafka.OffsetAndMetadata(3, "", -1)
        other.commit({kafka.TopicPartition("lags", 0): position})
        names = ("--group", "aiokafka-lags", "--group", "kafka-python-lags")
        described = await asyncio.to_thread(apache.groups, "--describe", *names)
    other.close()
    assert re.search(r"aiokafka-lags\s+lags\s+0\s+1\s+5\s+4\s+aiokafka-", described), described
    assert re.search(r"kafka-python-lags\s+lags\s+0\s+3\s+5\s+2\s+kafka-python-", described)


def test_members_of_a_live_group_are_described(apache: Tools, broker: OurBroker) -> None:
    apache.produce("live", 10)
    command = java_command(
        class_path("kafka-3.9"),
        "org.apache.kafka.tools.VerifiableConsumer",
        *("--bootstrap-server", broker.bootstrap, "--topic", "live", "--group-id", "live-group"),
        *("--group-instance-id", "static-one", "--reset-policy", "earliest"),
    )
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as consumer:
        assert consumer.stdout is not None
        try:
            assert any('"records_consumed"' in line for line in consumer.stdout)
            members = apache.groups("--describe", "--members", "--verbose", "--group", "live-group")
            assert re.search(r"live-group\s+static-one-\S+\s+static-one\s.*\(0\)", members)
            state = apache.groups("--describe", "--state", "--group", "live-group")
            assert re.search(r"range\s+Stable\s+1", state), state
            refused = apache.groups("--delete", "--group", "live-group")
            assert "GroupNotEmptyException" in refused, refused
        finally:
            consumer.kill()
    removed = apache.groups("--delete", "--group", "no-such-group")
    assert "GroupIdNotFoundException" in removed, removed


def test_the_dump_tool_reads_our_offsets_and_groups(tools: ApacheTools, tmp_path: Path) -> None:
    with our_broker(tmp_path, {"offsets.topic.num.partitions": "1"}) as broker:
        Tools(tools, broker).produce("t", 10)
        consume(broker, "t", 10, "dumped")
        broker.stop()
        log = broker.log_directory / "__consumer_offsets-0" / f"{0:020}.log"
        dump = tools.run(
            "kafka-dump-log.sh",
            *("--offsets-decoder", "--deep-iteration", "--files", str(log)),
        ).stdout
    offset = r'key: \{"type":"1","data":\{"group":"dumped","topic":"t","partition":0\}\}'
    stored = r'payload: \{"version":"3","data":\{"offset":10,'
    assert re.search(f"{offset} {stored}", dump), dump
    group = r'key: \{"type":"2","data":\{"group":"dumped"\}\} payload: \{"version":"3"'
    assert re.search(f'{group},"data":\\{{"protocolType":"consumer","generation":1,', dump), dump
