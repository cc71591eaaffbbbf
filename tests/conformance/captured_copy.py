"""Workers that capture a table and are killed, and the topic that tells the table."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.our_broker import SOURCES
from moldau.client.blocking.consumer import Consumer

DEADLINE_S = 240
ROWS = 6_000
LAST = 10**9
BROKER = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}
STATEMENTS = (
    "INSERT INTO t VALUES (%(free)s, %(text)s)",
    "UPDATE t SET v = %(text)s WHERE id = %(id)s",
    "UPDATE t SET id = %(free)s WHERE id = %(id)s",
    "DELETE FROM t WHERE id = %(id)s",
)
_JSON = "org.apache.kafka.connect.json.JsonConverter"
Statement = tuple[str, dict[str, object]]


def pipeline(
    servers: str, capture: Mapping[str, str], more: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The file of a worker with one connector; it may have more settings."""
    plain = {f"{side}.converter": _JSON for side in ("key", "value")}
    plain |= {f"{side}.converter.schemas.enable": "false" for side in ("key", "value")}
    worker = {
        "bootstrap.servers": servers,
        "listeners": "http://127.0.0.1:0",
        # The group forgets a worker that was killed.
        "consumer.session.timeout.ms": "3000",
        "consumer.heartbeat.interval.ms": "500",
        **plain,
        **(more or {}),
    }
    small = {"max.batch.size": "100", "poll.interval.ms": "50"}
    return {"worker": worker, "connectors": {"capture": {**small, **capture}}}


class Copy:
    """The topic as it is read, committed records alone."""

    def __init__(self, servers: str, topic: str, place: Sequence[str]) -> None:
        """`place` names the fields of a source that tell changes apart."""
        self._consumer = Consumer[bytes, bytes](
            bootstrap_servers=servers,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        self._consumer.assign([(topic, 0)])
        self._place = place
        self.rows: dict[int, object] = {}
        self.operations: Counter[str] = Counter()
        self.read_first: Counter[int] = Counter()
        """How often each row was read before the stream, by its key."""
        self.markers: list[str] = []
        """What the records of the first read say of themselves."""
        self.streamed: Counter[tuple[object, ...]] = Counter()
        """How often each change was read, by its place in the log."""

    def read(self) -> None:
        for each in self._consumer.poll(0.1):
            assert each.key is not None
            key = json.loads(each.key)["id"]
            if each.value is None:
                continue  # a tombstone, after what says more
            value = json.loads(each.value)
            self.operations[value["op"]] += 1
            if value["op"] == "r":
                self.read_first[key] += 1
                self.markers.append(value["source"]["snapshot"])
            else:
                place = [value["source"][name] for name in self._place]
                self.streamed[*place, value["op"], key] += 1
            if value["after"] is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = value["after"]["v"]

    def until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not is_so():
            assert time.monotonic() < deadline, self.operations
            self.read()

    def until_streamed(self, more: int) -> None:
        """Until so many more changes have come."""
        wanted = self.streamed.total() + more
        self.until(lambda: self.streamed.total() >= wanted)

    @property
    def repeated(self) -> set[tuple[object, ...]]:
        """Changes that came more than once."""
        return {each for each, count in self.streamed.items() if count > 1}

    def close(self) -> None:
        self._consumer.close()


@contextmanager
def a_worker(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that is killed when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "moldau", "connect", "run", str(file)],
        cwd=file.parent,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def transaction(chance: random.Random) -> list[Statement]:
    """A few statements, each about one row."""
    return [
        (
            chance.choice(STATEMENTS),
            {
                "id": chance.randint(1, ROWS),
                "free": chance.randint(ROWS, LAST - 1),
                "text": f"v{chance.random()}",
            },
        )
        for _ in range(chance.randint(1, 5))
    ]


@contextmanager
def changing(commit: Callable[[list[Statement]], None]) -> Iterator[None]:
    """Another thread commits transactions until the block ends."""
    ends = threading.Event()

    def work() -> None:
        chance = random.Random(5)
        while not ends.wait(0.005):
            commit(transaction(chance))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()
