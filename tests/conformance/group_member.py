"""A member of a group, of a client in Python, as a program; tests stop and kill it.

    python -m conformance.group_member aiokafka|kafka-python SETTINGS

SETTINGS are the client's, in JSON, and the `topics` or the `pattern` to subscribe to. Whenever
the member has other partitions, it prints them, with all that it had to give away so far.

kafka-python 3.0.12 sometimes never returns from a poll of 100 ms, nor from its constructor, with
Apache's broker too: its thread waits in `run` of kafka/net/selector.py for a task that its own loop
has lost. Or it polls, but thinks that it is joining while it has no request under way. Such a
member starts anew, as a supervisor would start it.
"""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from kafka import ConsumerRebalanceListener as KafkaPythonListener
from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

COMMON: dict[str, Any] = {
    "auto_offset_reset": "earliest",
    "heartbeat_interval_ms": 200,
    "metadata_max_age_ms": 500,
}
POLL_MS = 100
HUNG_S = 10


class Telling:
    """What the test hears of the member."""

    def __init__(self) -> None:
        self.partitions: list[str] | None = None
        self.revoked: set[str] = set()

    def revoke(self, revoked: Any) -> None:
        self.revoked |= {f"{each.topic}-{each.partition}" for each in revoked}

    def tell(self, assigned: Any) -> None:
        partitions = sorted(f"{each.topic}-{each.partition}" for each in assigned)
        if partitions != self.partitions:
            self.partitions = partitions
            print(json.dumps({"partitions": partitions, "revoked": sorted(self.revoked)}))
            sys.stdout.flush()


class OfAiokafka(Telling, ConsumerRebalanceListener):  # type: ignore[misc]
    """Its listener's calls are coroutines."""

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self.revoke(revoked)

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """Told after every poll."""


class OfKafkaPython(Telling, KafkaPythonListener):  # type: ignore[misc]
    """Its listener's calls are plain."""

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.revoke(revoked)

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Told after every poll."""


async def run_aiokafka(topics: list[str], pattern: str | None, **settings: Any) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    told = OfAiokafka()
    async with AIOKafkaConsumer(**COMMON, **settings) as consumer:
        consumer.subscribe(topics, pattern=pattern, listener=told)
        while not stopping.is_set():
            await consumer.getmany(timeout_ms=POLL_MS)
            told.tell(consumer.assignment())


def run_kafka_python(topics: list[str], pattern: str | None, **settings: Any) -> None:
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopping.append(number))
    if settings.pop("cooperative", False):
        settings["partition_assignment_strategy"] = [CooperativeStickyAssignor]
    told = OfKafkaPython()
    watchdog = Watchdog()
    consumer = KafkaConsumer(**COMMON, **settings)
    # One that learns of partitions after it has joined joins again at once: by that a cooperative
    # member was left without any, though the broker had given it all.
    for topic in topics:
        consumer.partitions_for_topic(topic)
    consumer.subscribe(topics, pattern=pattern, listener=told)
    while not stopping:
        consumer.poll(timeout_ms=POLL_MS)
        if not consumer._coordinator.rejoining:
            watchdog.polled()
        told.tell(consumer.assignment())
    watchdog.cancel()
    consumer.close()


class Watchdog:
    """Starts the program anew unless it makes progress."""

    def __init__(self) -> None:
        self.polled_s = time.monotonic()
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def polled(self) -> None:
        self.polled_s = time.monotonic()

    def cancel(self) -> None:
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(1):
            if time.monotonic() - self.polled_s > HUNG_S:
                print("the client has hung: the member starts anew", file=sys.stderr, flush=True)
                module = ["-m", "conformance.group_member"]
                os.execv(sys.executable, [sys.executable, *module, *sys.argv[1:]])


if __name__ == "__main__":
    client, given = sys.argv[1], {"topics": [], "pattern": None, **json.loads(sys.argv[2])}
    if client == "aiokafka":
        asyncio.run(run_aiokafka(**given))
    else:
        run_kafka_python(**given)
