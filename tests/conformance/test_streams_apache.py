"""Kafka Streams counts words, exactly once, while it and the broker are restarted."""

import random
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker, our_broker
from conformance.transacting import DEADLINE_S, reader

APPLICATION = "counting"
REPARTITION_TOPIC = f"{APPLICATION}-words-repartition"
PARTITIONS = 2
VOCABULARY = ("moldau", "vltava", "river", "stream", "source", "mouth")
LINES = [
    " ".join(random.Random(number).choices(VOCABULARY, k=5)).title() for number in range(2_000)
]


def start(program: JavaProgram, broker: OurBroker, directory: Path) -> None:
    settings = {
        "application.id": APPLICATION,
        "bootstrap.servers": broker.bootstrap,
        "processing.guarantee": "exactly_once_v2",
        "state.dir": str(directory / "state"),
        "default.key.serde": "org.apache.kafka.common.serialization.Serdes$StringSerde",
        "default.value.serde": "org.apache.kafka.common.serialization.Serdes$StringSerde",
        # Each step of a count comes out, so that one too many or too few is seen.
        "statestore.cache.max.bytes": 0,
        "commit.interval.ms": 100,
        "repartition.purge.interval.ms": 100,
        "auto.offset.reset": "earliest",
        # Who comes back under the same name is not waited for.
        "consumer.group.instance.id": "counter",
    }
    program.call("start", settings=settings, input="lines", output="counts")


def produce(broker: OurBroker, lines: list[str]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
    for number, line in enumerate(lines):
        producer.produce("lines", line, partition=number % PARTITIONS)
    assert producer.flush(DEADLINE_S) == 0


def counts(broker: OurBroker) -> dict[str, list[int]]:
    """Every count of each word that was ever committed, in order."""
    found: dict[str, list[int]] = defaultdict(list)
    with reader(broker) as consumer:
        for number in range(PARTITIONS):
            consumer.assign([TopicPartition("counts", number, 0)])
            while True:
                message = consumer.poll(DEADLINE_S)
                assert message is not None, "the end did not come"
                if message.error() is not None:
                    break
                found[(message.key() or b"").decode()].append(int(message.value() or b""))
    return found


def expected(lines: list[str]) -> dict[str, list[int]]:
    words = " ".join(lines).lower().split()
    return {word: list(range(1, words.count(word) + 1)) for word in VOCABULARY}


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 3 * DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def first_offsets(admin: AdminClient, topic: str) -> list[int]:
    asked = {TopicPartition(topic, number): OffsetSpec.earliest() for number in range(PARTITIONS)}
    return [each.result(DEADLINE_S).offset for each in admin.list_offsets(asked).values()]


@needs_apache("streams-3.9")
def test_words_are_counted_exactly_once_through_a_crash_and_a_restart(tmp_path: Path) -> None:
    with our_broker(tmp_path / "broker", {"group.initial.rebalance.delay.ms": "0"}) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        topics = [NewTopic(name, PARTITIONS, 1) for name in ("lines", "counts")]
        for created in admin.create_topics(topics).values():
            created.result(DEADLINE_S)
        produce(broker, LINES[:1000])
        with JavaProgram("words", "streams-3.9") as program:
            start(program, broker, tmp_path)
            wait_until(lambda: len(counts(broker)) > 0, "nothing was counted")
        # The program was killed in the middle of something; now the broker as well.
        broker.stop()
        broker.start()
        produce(broker, LINES[1000:])
        with JavaProgram("words", "streams-3.9") as program:
            start(program, broker, tmp_path)
            wait_until(lambda: counts(broker) == expected(LINES), "the counts are not right")
            wait_until(
                lambda: all(first_offsets(admin, REPARTITION_TOPIC)),
                "what was grouped has not been deleted",
            )
            assert program.call("stop")
