"""F44 to F46: the process that has all brokers of `moldau serve --brokers` ends, or they move."""

import os
import subprocess
import sys
from collections import Counter

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.cimpl import NewTopic

from conformance.our_broker import SOURCES
from conformance.our_cluster import DEADLINE_S, until
from faults.fault import fault
from faults.stage import Stage
from faults.supervised import supervisor_of

# Five seconds in which brokers may end, and a start.
_AGAIN_S = 30.0
_MOVED = "moved"
_PARTITIONS = 6
_RECORDS = 3_000
_RECORD_BYTES = 2_000
# So slow that the first run is cut off in the middle.
_THROTTLE = 200_000


@fault(is_supervised=True, pause_max_s=_AGAIN_S)
def f44(stage: Stage) -> None:
    """The supervisor is killed, and started again at once."""
    supervisor = supervisor_of(stage)
    for _ in range(stage.rounds):
        stage.load.until_more()
        supervisor.kill()
        supervisor.start()
        stage.load.until_more()
        stage.until_whole()


@fault(is_supervised=True, pause_max_s=_AGAIN_S)
def f45(stage: Stage) -> None:
    """While one broker after the other stops, the supervisor and the rest of them are killed."""
    supervisor = supervisor_of(stage)
    for _ in range(stage.rounds):
        stage.load.until_more()
        begin = len(supervisor.lines)
        supervisor.ask_to_stop()
        supervisor.until_said("[KafkaServer id=2] shut down completed", begin)
        left = [supervisor.process_of(number) for number in (0, 1)]
        supervisor.kill()
        for process in left:
            if process is not None:
                os.kill(process, 9)
        supervisor.start()
        stage.load.until_more()
        stage.until_whole()


@fault(is_supervised=True)
def f46(stage: Stage) -> None:
    """A broker and `moldau rebalance` are killed while partitions move; it is run again."""
    admin = stage.admin()
    # Nothing of it is on the last broker, as after a start with a larger number.
    places = [[0, 1], [1, 0]] * (_PARTITIONS // 2)
    settings = {"min.insync.replicas": "1"}
    topic = NewTopic(_MOVED, _PARTITIONS, replica_assignment=places, config=settings)
    admin.create_topics([topic])[_MOVED].result(DEADLINE_S)
    written = _write(stage)
    with _rebalance(stage, "--throttle", str(_THROTTLE)) as running:
        until(lambda: 2 in _holders(stage), "something moves to broker 2")
        assert running.poll() is None, "it has ended before anything could be killed"
        stage.kill(2)
        running.kill()
    stage.start(2)
    with _rebalance(stage) as running:
        assert running.wait(DEADLINE_S) == 0
    spread = Counter(number for one in _assignments(stage) for number in one)
    assert set(spread.values()) == {_PARTITIONS * 2 // 3}, spread
    assert _read(stage, len(written)) == written
    stage.until_whole()


def _rebalance(stage: Stage, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "moldau", "rebalance", "--topic", _MOVED, *arguments]
    return subprocess.Popen(
        [*command, "--bootstrap-server", stage.cluster.bootstrap],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )


def _assignments(stage: Stage) -> list[list[int]]:
    topic = stage.admin().list_topics(_MOVED, DEADLINE_S).topics[_MOVED]
    return [list(one.replicas) for one in topic.partitions.values()]


def _holders(stage: Stage) -> set[int]:
    return {number for one in _assignments(stage) for number in one}


def _write(stage: Stage) -> set[bytes]:
    producer = Producer({"bootstrap.servers": stage.cluster.bootstrap, "acks": "all"})
    values = {b"%d-" % number + bytes(_RECORD_BYTES) for number in range(_RECORDS)}
    for number, value in enumerate(values):
        producer.produce(_MOVED, value, partition=number % _PARTITIONS)
    assert producer.flush(DEADLINE_S) == 0
    return values


def _read(stage: Stage, count: int) -> set[bytes]:
    settings = {"bootstrap.servers": stage.cluster.bootstrap, "group.id": "moved"}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(_MOVED, number, 0) for number in range(_PARTITIONS)])
    found: list[bytes] = []

    def is_read() -> bool:
        found.extend(one.value() or b"" for one in consumer.consume(1000, 0.2) if not one.error())
        return len(found) >= count

    until(is_read, f"{count} records are read")
    consumer.close()
    assert len(found) == count
    return set(found)
