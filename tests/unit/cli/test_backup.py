"""Copy a broker's data to a directory while it runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import confluent_kafka

from moldau.testing.broker import running_broker
from unit.cli.command import run
from unit.cli.serving import served

TOPICS = ("left", "right")


class Transfers(threading.Thread):
    """Transactions that write the same number to two topics; counts those that were committed."""

    def __init__(self, servers: str) -> None:
        super().__init__()
        self.committed = 0
        self._is_to_end = threading.Event()
        settings = {"bootstrap.servers": servers, "transactional.id": "transfers"}
        self._producer = confluent_kafka.Producer(settings)

    def run(self) -> None:
        self._producer.init_transactions()
        while not self._is_to_end.is_set():
            self._producer.begin_transaction()
            for topic in TOPICS:
                self._producer.produce(topic, b"%d" % self.committed)
            self._producer.commit_transaction()
            self.committed += 1

    def until(self, count: int) -> int:
        while self.committed < count:
            assert self.is_alive()
        return self.committed

    def end(self) -> None:
        self._is_to_end.set()
        self.join()


@contextmanager
def transfers(servers: str) -> Iterator[Transfers]:
    running = Transfers(servers)
    running.start()
    try:
        yield running
    finally:
        running.end()


def values(servers: str, topic: str) -> list[bytes]:
    """What was committed to a topic of one partition."""
    found: list[bytes] = []
    settings = {"bootstrap.servers": servers, "group.id": "x", "enable.partition.eof": True}
    consumer = confluent_kafka.Consumer(settings)
    try:
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        while True:
            message = consumer.poll(20)
            assert message is not None
            error = message.error()
            if error is not None:
                assert error.code() == confluent_kafka.KafkaError._PARTITION_EOF
                return found
            found.append(bytes(message.value() or b""))
    finally:
        consumer.close()


def test_a_backup_of_a_running_broker_is_one_instant(tmp_path: Path) -> None:
    data, target, restored = tmp_path / "moldau", tmp_path / "backup", tmp_path / "restored"
    with (
        served("--port", "0", home=tmp_path) as running,
        transfers(running.bootstrap_servers) as load,
    ):
        before = load.until(20)
        done = run("backup", "--data", str(data), "--to", str(target))
        assert (done.code, done.stderr) == (0, "")
        after = load.committed
        load.until(after + 5)
    assert run("restore", "--from", str(target), "--data", str(restored)).code == 0
    with running_broker(directory=restored) as kafka:
        left, right = (values(kafka.bootstrap_servers, topic) for topic in TOPICS)
    assert left == right == [b"%d" % number for number in range(len(left))]
    assert before <= len(left) <= after + 1
    assert not (data / ".backup").exists()


def test_the_target_has_to_be_named() -> None:
    assert run("backup").stderr == 'Missing required argument "[to]"\n'
