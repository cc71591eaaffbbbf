"""kill -9 under load: every acknowledged record is there after the next start."""

import threading
import time
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message, Producer

from conformance.our_broker import OurBroker, our_broker
from conformance.test_clients_confluent import consume

KILLS = 3
DEADLINE_S = 30
_QUEUE_FULL_PAUSE_S = 0.005


class Load:
    """A thread that produces numbered records and notes which were acknowledged."""

    def __init__(self, broker: OurBroker, **settings: object) -> None:
        self.acknowledged: set[bytes] = set()
        self._producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "acks": "all", "linger.ms": 1, **settings}
        )
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._is_over.is_set():
            try:
                self._producer.produce(
                    "killed", b"%012d" % number, partition=0, on_delivery=self._note
                )
                number += 1
                if number % 50 == 0:
                    self._producer.poll(0)
            except BufferError:
                self._producer.poll(_QUEUE_FULL_PAUSE_S)

    def _note(self, error: KafkaError | None, message: Message) -> None:
        value = message.value()
        if error is None and value is not None:
            self.acknowledged.add(value)

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while len(self.acknowledged) < count:
            assert time.monotonic() < deadline, "no more records are acknowledged"
            time.sleep(0.01)

    def finish(self) -> None:
        self._is_over.set()
        self._thread.join()
        assert self._producer.flush(DEADLINE_S) == 0


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_no_acknowledged_record_is_lost(tmp_path: Path, codec: str) -> None:
    # Small segments, so that rolls and background flushes are under way when it ends.
    settings = {"log.segment.bytes": "1048576", "log.flush.interval.messages": "5000"}
    with our_broker(tmp_path, settings) as broker:
        load = Load(broker, **{"compression.type": codec, "enable.idempotence": True})
        for _ in range(KILLS):
            load.wait_for(len(load.acknowledged) + 5000)
            broker.kill()
            broker.start()
        load.wait_for(len(load.acknowledged) + 1000)
        load.finish()
        sent = consume(broker.bootstrap, "killed", len(load.acknowledged))
    found = [row.value for row in sent]
    assert load.acknowledged <= set(found)
    # An idempotent producer that retries leaves neither copies nor disorder.
    assert found == sorted(set(found))  # type: ignore[type-var]
