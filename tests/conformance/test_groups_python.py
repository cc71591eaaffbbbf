"""Groups of aiokafka's and kafka-python's consumers, each a process, against our broker."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import aiokafka
import kafka
import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Producer
from kafka import KafkaConsumer

from conformance.fleet import DEADLINE_S, create_topic, until
from conformance.our_broker import OurBroker, our_broker
from conformance.sent import START_MS

TESTS = Path(__file__).resolve().parents[1]
CLIENTS = ("aiokafka", "kafka-python")
both_clients = pytest.mark.parametrize("client", CLIENTS)


class Member:
    """A consumer in a process of its own, and what it last said."""

    def __init__(self, client: str, settings: dict[str, Any]) -> None:
        self.seen: dict[str, list[str]] = {"partitions": [], "revoked": []}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "conformance.group_member", client, json.dumps(settings)],
            cwd=TESTS,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
            stdout=subprocess.PIPE,
            text=True,
        )
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout:
            for line in self.process.stdout:
                self.seen = json.loads(line)

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(DEADLINE_S) == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


Start = Callable[..., Member]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    settings = {"group.min.session.timeout.ms": "1000"}
    with our_broker(tmp_path_factory.mktemp("broker"), settings) as running:
        yield running


@pytest.fixture
def start(broker: OurBroker) -> Iterator[Start]:
    """Starts members, and ends those that are left."""
    started = []

    def make(client: str, group: str, **settings: object) -> Member:
        where = {"bootstrap_servers": broker.bootstrap, "group_id": group}
        started.append(Member(client, {**where, "session_timeout_ms": 6000, **settings}))
        return started[-1]

    yield make
    for member in started:
        member.kill()


def until_shared(partitions: list[str], *members: Member) -> None:
    """Wait until every partition has one owner, and every member owns some."""

    def is_shared() -> bool:
        assert all(member.process.poll() is None for member in members)
        shares = [member.seen["partitions"] for member in members]
        return sorted(chain(*shares)) == sorted(partitions) and all(shares)

    until(is_shared)


@both_clients
def test_members_come_go_and_are_killed(start: Start, broker: OurBroker, client: str) -> None:
    group = f"come-and-go-{client}"
    partitions = create_topic(broker, group)
    one = start(client, group, topics=[group])
    until_shared(partitions, one)
    two = start(client, group, topics=[group])
    killed = start(client, group, topics=[group], session_timeout_ms=2000)
    until_shared(partitions, one, two, killed)
    one.stop()
    until_shared(partitions, two, killed)
    killed.kill()
    until_shared(partitions, two)
    two.stop()


@both_clients
def test_a_killed_static_member_comes_back_without_a_rebalance(
    start: Start, broker: OurBroker, client: str
) -> None:
    group = f"static-{client}"
    settings = {"topics": [group], "session_timeout_ms": 60_000}
    partitions = create_topic(broker, group)
    one = start(client, group, group_instance_id="one", **settings)
    until_shared(partitions, one)
    two = start(client, group, group_instance_id="two", **settings)
    until_shared(partitions, one, two)
    before = one.seen["partitions"], two.seen
    one.kill()
    again = start(client, group, group_instance_id="one", **settings)
    until_shared(partitions, again, two)
    assert (again.seen["partitions"], two.seen) == before


@both_clients
def test_a_pattern_takes_in_topics_that_are_created_later(
    start: Start, broker: OurBroker, client: str
) -> None:
    create_topic(broker, f"other-{client}", 1)
    first = create_topic(broker, f"matching-{client}-a", 2)
    # Of two members of kafka-python 3.0 that take in a topic at once, one often hangs in its own
    # poll until its session ends, with Apache's broker more often than with ours.
    count = 1 if client == "kafka-python" else 2
    members = [start(client, client, pattern=f"^matching-{client}-[ab]$") for _ in range(count)]
    until_shared(first, *members)
    second = create_topic(broker, f"matching-{client}-b", 2)
    until_shared(first + second, *members)


def test_a_cooperative_member_gives_away_only_what_another_gets(
    start: Start, broker: OurBroker
) -> None:
    group = "cooperative"  # which aiokafka does not know
    partitions = create_topic(broker, group)
    # A member that a busy machine keeps from its heartbeats for too long gives away everything.
    settings = {"topics": [group], "cooperative": True, "session_timeout_ms": 60_000}
    one = start("kafka-python", group, **settings)
    until_shared(partitions, one)
    two = start("kafka-python", group, **settings)
    until_shared(partitions, one, two)
    assert one.seen["revoked"] == two.seen["partitions"], (one.seen, two.seen)


def write(broker: OurBroker, topic: str) -> None:
    """Three records, a second apart."""
    create_topic(broker, topic, 1)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for second in range(3):
        producer.produce(topic, b"", partition=0, timestamp=START_MS + second * 1000)
    assert producer.flush(DEADLINE_S) == 0


async def test_an_aiokafka_group_without_offsets_begins_where_it_is_told(
    broker: OurBroker,
) -> None:
    write(broker, "resets-a")
    partition = aiokafka.TopicPartition("resets-a", 0)

    def consumer(reset: str) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap,
            group_id="resets-a",
            auto_offset_reset=reset,
            enable_auto_commit=False,
        )

    for reset, expected in (("earliest", 0), ("latest", 3)):
        async with consumer(reset) as one:
            one.assign([partition])
            assert await one.position(partition) == expected
    async with consumer("none") as one:
        one.assign([partition])
        with pytest.raises(aiokafka.errors.NoOffsetForPartitionError):
            await one.getone()
        found = await one.offsets_for_times({partition: START_MS + 500})
        one.seek(partition, found[partition].offset)
        assert (await one.getone()).offset == 1


def test_a_kafka_python_group_without_offsets_begins_where_it_is_told(broker: OurBroker) -> None:
    write(broker, "resets-k")
    partition = kafka.TopicPartition("resets-k", 0)

    def consumer(reset: str) -> KafkaConsumer:
        made = KafkaConsumer(
            bootstrap_servers=broker.bootstrap,
            group_id="resets-k",
            auto_offset_reset=reset,
            enable_auto_commit=False,
        )
        made.assign([partition])
        return made

    for reset, expected in (("earliest", 0), ("latest", 3)):
        one = consumer(reset)
        assert one.position(partition) == expected
        one.close()
    one = consumer("none")
    with pytest.raises(kafka.errors.NoOffsetForPartitionError):
        one.position(partition)
    found = one.offsets_for_times({partition: START_MS + 500})
    one.seek(partition, found[partition].offset)
    assert one.position(partition) == 1
    one.close()
