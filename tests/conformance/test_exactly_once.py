"""Programs that read, write and commit offsets in transactions: each record comes out once."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.apache.jars import class_path
from conformance.apache.jvm import java_command, run_main
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker, our_broker
from conformance.transacting import DEADLINE_S, producer_of, read, until_state, write

COPIED = 20_000
KILLS = 4
COPIER = "org.apache.kafka.tools.TransactionalMessageCopier"
TESTS = Path(__file__).resolve().parents[1]


class Copying:
    """A copier as a process of its own, and what it has to copy."""

    def __init__(self, broker: OurBroker) -> None:
        self._broker = broker
        self._process: subprocess.Popen[bytes] | None = None
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        topics = [NewTopic(name, 2, 1) for name in ("input", "output")]
        for created in admin.create_topics(topics).values():
            created.result(DEADLINE_S)
        producer = producer_of(broker, "input")
        producer.begin_transaction()
        for number in range(COPIED):
            producer.produce("input", b"%d" % number, partition=number % 2)
        producer.commit_transaction(DEADLINE_S)

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "conformance.transactional_copier"),
                *(self._broker.bootstrap, "input", "output", str(COPIED)),
            ],
            cwd=TESTS,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
        )

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def wait(self) -> None:
        assert self._process is not None
        assert self._process.wait(4 * DEADLINE_S) == 0

    def wait_for(self, count: int) -> None:
        """Until the copier has committed some more, or all."""
        deadline = time.monotonic() + 3 * DEADLINE_S
        while len_of_output(self._broker) < min(count, COPIED):
            assert time.monotonic() < deadline, "the copier does not get on"

    def check(self) -> None:
        for number in range(2):
            expected = [b"%d" % each for each in range(COPIED) if each % 2 == number]
            assert read(self._broker, "output", number=number) == expected


@pytest.fixture
def copying(tmp_path: Path) -> Iterator[tuple[OurBroker, Copying]]:
    settings = {"group.initial.rebalance.delay.ms": "0"}
    with our_broker(tmp_path, settings) as broker:
        copying = Copying(broker)
        try:
            yield broker, copying
        finally:
            copying.stop()


def test_a_copier_that_is_killed_at_random_copies_exactly_once(
    copying: tuple[OurBroker, Copying],
) -> None:
    broker, copier = copying
    draw = random.Random(6)
    for _ in range(KILLS):
        copier.start()
        copier.wait_for(len_of_output(broker) + draw.randrange(1, 200))
        copier.stop()
    copier.start()
    copier.wait()
    copier.check()


def test_a_copier_copies_exactly_once_while_the_broker_is_killed(
    copying: tuple[OurBroker, Copying],
) -> None:
    broker, copier = copying
    draw = random.Random(7)
    copier.start()
    for _ in range(KILLS):
        copier.wait_for(len_of_output(broker) + draw.randrange(1, 200))
        broker.kill()
        broker.start()
    copier.wait()
    copier.check()


def len_of_output(broker: OurBroker) -> int:
    return sum(len(read(broker, "output", number=number)) for number in range(2))


def copier_options(broker: OurBroker, source: str, target: str) -> list[str]:
    return [
        *("--broker-list", broker.bootstrap, "--transactional-id", f"{source}-copier"),
        *("--input-topic", source, "--input-partition", "0"),
        *("--output-topic", target, "--consumer-group", f"{source}-copier"),
    ]


@needs_apache("kafka-3.9")
def test_apaches_copier_that_is_killed_at_random_copies_exactly_once(broker: OurBroker) -> None:
    values = [b"%d" % number for number in range(1000)]
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for value in values:  # not in a transaction: to the copier a marker is one more to come
        producer.produce("kills", value, partition=0)
    assert producer.flush(DEADLINE_S) == 0
    options = [*copier_options(broker, "kills", "kills-output"), "--transaction-size", "10"]
    draw = random.Random(8)
    for _ in range(2):
        command = java_command(class_path("kafka-3.9"), COPIER, *options)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as copier:
            assert copier.stdout is not None
            try:  # which says a line for each transaction
                for _ in range(draw.randrange(5, 40)):
                    assert "totalProcessed" in copier.stdout.readline()
            finally:
                copier.kill()
    assert read(broker, "kills-output") != values
    run = run_main(COPIER, *options)
    until_state(broker, "kills-copier", "CompleteCommit")
    assert read(broker, "kills-output") == values, run.stderr


@needs_apache("kafka-3.9")
def test_apaches_copier_copies_exactly_once_with_random_aborts(broker: OurBroker) -> None:
    values = [b"%d" % number for number in range(1000)]
    write(producer_of(broker, "apache-input"), "apache-input", *values, is_commit=True)
    run = run_main(
        COPIER,
        *copier_options(broker, "apache-input", "apache-output"),
        *("--transaction-size", "50", "--max-messages", "1000", "--enable-random-aborts"),
    )
    until_state(broker, "apache-input-copier", "CompleteCommit")
    assert read(broker, "apache-output") == values, run.stderr
