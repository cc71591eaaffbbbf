"""Processes with our clients are killed: others take over, nothing is lost, nothing doubled.

python -m conformance.test_own_clients_killed KILLS does it for longer.
"""

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from conformance.own_client_process import SOURCE, TARGET
from moldau.client.blocking import Consumer, Producer
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.client.topics import create_topic

PARTITIONS = 3
_WAIT_S = 60.0
_PORTION = 30
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.consumer.min.heartbeat.interval.ms": "50",
    "group.consumer.heartbeat.interval.ms": "50",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "1000",
}


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return SETTINGS


class Process:
    """A client in a process of its own, and all that it has said."""

    def __init__(self, role: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "conformance.own_client_process", role, *arguments]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # It finds what these tests find, wherever that was told.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self.lines: list[str] = []
        self._said = threading.Condition()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as said:
            for line in said:
                with self._said:
                    self.lines.append(line.strip())
                    self._said.notify_all()

    def wait_until(self, holds: Callable[[list[str]], bool]) -> None:
        """Return once something holds for what the process has said."""
        with self._said:
            is_so = self._said.wait_for(
                lambda: holds(self.lines) or self._process.poll() is not None, _WAIT_S
            )
            assert is_so, f"it only said {self.lines}"
        assert self._process.poll() is None, "\n".join(self.lines[-30:])

    def has_said(self, line: str, known: int, timeout_s: float) -> bool:
        """Whether it says this, beyond what was known, in so much time."""
        with self._said:
            return self._said.wait_for(lambda: line in self.lines[known:], timeout_s)

    def kill(self) -> None:
        """As the operating system does it when there is no memory."""
        self._process.kill()
        self._process.wait()
        self._listener.join()


@contextmanager
def processes() -> Iterator[list[Process]]:
    """Whatever is in the list at the end is killed."""
    running: list[Process] = []
    try:
        yield running
    finally:
        for process in running:
            process.kill()


def fill(kafka: EmbeddedBroker, numbers: range) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in numbers:
            producer.send(SOURCE, b"%d" % number, partition=number % PARTITIONS)


def make_topics(kafka: EmbeddedBroker) -> None:
    for topic in (SOURCE, TARGET):
        create_topic(kafka, topic, PARTITIONS)


def numbers_read(*readers: Process) -> set[int]:
    return {
        int(line.partition(" ")[2])
        for reader in readers
        for line in reader.lines
        if line.startswith("read ")
    }


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_others_take_over_what_a_killed_member_had(kafka: EmbeddedBroker, protocol: str) -> None:
    make_topics(kafka)
    fill(kafka, range(300))
    with processes() as running:
        for _ in range(2):
            running.append(Process("reader", kafka.bootstrap_servers, protocol))
        first, second = running
        first.wait_until(lambda lines: "has 1" in lines or "has 2" in lines)
        second.wait_until(lambda lines: "has 1" in lines or "has 2" in lines)
        first.kill()
        fill(kafka, range(300, 600))
        second.wait_until(lambda lines: lines[-1:] == [f"has {PARTITIONS}"])
        everything = set(range(600))
        second.wait_until(lambda _: numbers_read(first, second) == everything)


def copied(kafka: EmbeddedBroker) -> Counter[int]:
    """How often each number is in the target, for readers of what is committed."""
    partitions = [TopicPartition(TARGET, each) for each in range(PARTITIONS)]
    found: Counter[int] = Counter()
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        consumer.assign(partitions)
        for partition, end in consumer.end_offsets(partitions).items():
            while consumer.position(partition) < end:
                found.update(int(record.value or b"") for record in consumer.poll(1))
    return found


def copy_while_killing(
    kafka: EmbeddedBroker, protocol: str, kills: int
) -> tuple[int, Counter[int]]:
    """Two copiers, each killed in its turn in the middle of a transaction.

    Returns how many numbers there were, and how often each was copied.
    """
    make_topics(kafka)
    count = 0
    with processes() as running:
        for number in range(2):
            running.append(copier(kafka, protocol, number))
        for kill in range(kills):
            victim = running[kill % 2]
            moment, known = "open" if kill % 4 < 2 else "ending", len(victim.lines)
            while not victim.has_said(moment, known, 0.1):
                victim.wait_until(lambda _: True)  # which fails if it has ended
                fill(kafka, range(count, count + _PORTION))
                count += _PORTION
            victim.kill()
            running[kill % 2] = copier(kafka, protocol, kill % 2)
        while copied(kafka).total() < count:
            running[0].wait_until(lambda _: True)
    return count, copied(kafka)


def copier(kafka: EmbeddedBroker, protocol: str, number: int) -> Process:
    return Process("copier", kafka.bootstrap_servers, protocol, f"copier-{number}")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_killed_transaction_leaves_nothing_behind(kafka: EmbeddedBroker, protocol: str) -> None:
    count, found = copy_while_killing(kafka, protocol, kills=2)
    assert not {each: found[each] for each in range(count) if found[each] != 1}


if __name__ == "__main__":
    kills = int(sys.argv[1])
    for protocol in ("classic", "consumer"):
        with running_broker(SETTINGS) as kafka:
            count, found = copy_while_killing(kafka, protocol, kills)
            wrong = {each: found[each] for each in range(count) if found[each] != 1}
            assert not wrong, wrong
            print(f"{protocol}: {kills} kills, {count} records, each copied once")
