"""A sink gets tables, commits what was written, and sends what fails to its queue."""

import pyarrow as pa
import pytest

from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Sink
from moldau.connect.errors import DataError
from moldau.connect.worker.dead_letters import DeadLetterQueue
from moldau.connect.worker.pipeline import SinkPipeline
from moldau.connect.worker.sink_work import SinkWork
from moldau.connect.worker.sink_writing import FailedRecords, SinkWriter
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker

TEXT = {"key.converter": "String", "value.converter": "String"}


class Picky(Sink):
    """Refuses one value."""

    def __init__(self) -> None:
        super().__init__({})
        self.written: list[object] = []
        self.attempts = 0

    def write(self, table: pa.Table, batch_id: int) -> None:
        self.attempts += 1
        values = table.column("value").to_pylist()
        if "bad" in values:
            raise DataError("bad is not stored")
        self.written += values


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


def work(kafka: EmbeddedBroker, sink: Sink, group: str, *, tolerates: bool) -> SinkWork:
    servers = kafka.bootstrap_servers
    consumer: Consumer[bytes, bytes] = Consumer(
        bootstrap_servers=servers,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    failed = FailedRecords(
        tolerates,
        DeadLetterQueue("dead", True, "c", 0),
        lambda: Producer(bootstrap_servers=servers),
    )
    writer = SinkWriter(sink, SinkPipeline(TEXT, {}), failed)
    return SinkWork(writer, consumer, ["in"], lambda _: None)


def send(kafka: EmbeddedBroker, *values: bytes) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for value in values:
            producer.send("in", value)


def test_what_cannot_be_stored_goes_to_the_queue_and_the_rest_is_stored(
    kafka: EmbeddedBroker,
) -> None:
    send(kafka, b"a", b"bad", b"b", b"\xff")
    sink = Picky()
    steps = work(kafka, sink, "lenient", tolerates=True)
    while len(sink.written) < 2:
        assert steps.step()
    steps.close()
    assert sink.written == ["a", "b"]
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest", group_id="lenient"
    ) as reader:
        assert reader.committed([TopicPartition("in", 0)]) == {TopicPartition("in", 0): 4}
        reader.assign([("dead", 0)])
        found: list[tuple[bytes | None, bytes | None]] = []
        while len(found) < 2:
            found += [
                (each.value, dict(each.headers)["__connect.errors.stage"])
                for each in reader.poll(1)
            ]
    assert sorted(found, key=str) == [(b"\xff", b"VALUE_CONVERTER"), (b"bad", b"TASK_PUT")]


def test_one_bad_record_of_many_is_found_by_halves(kafka: EmbeddedBroker) -> None:
    send(kafka, *(b"bad" if at == 40 else b"%d" % at for at in range(64)))
    sink = Picky()
    steps = work(kafka, sink, "many", tolerates=True)
    while len(sink.written) < 63:
        assert steps.step()
    steps.close()
    assert sink.written == [str(at) for at in range(64) if at != 40]
    assert sink.attempts < 32


class Holding(Picky):
    """Holds everything back until it may store it."""

    may_store = False

    def settle(self, *, ends: bool = False) -> bool:
        return self.may_store


def test_nothing_is_committed_while_a_sink_holds_records_back(kafka: EmbeddedBroker) -> None:
    send(kafka, b"a")
    sink = Holding()
    steps = work(kafka, sink, "holding", tolerates=False)
    place = TopicPartition("in", 0)
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, group_id="holding"
    ) as reader:
        while not sink.written:
            assert steps.step()
        assert steps.step()
        assert reader.committed([place]) == {}
        sink.may_store = True
        assert steps.step(), "though there is no new record"
        assert reader.committed([place]) == {place: 1}
    steps.close()


def run(steps: SinkWork) -> None:
    while True:
        steps.step()


def test_without_tolerance_the_task_fails_and_says_which_record(kafka: EmbeddedBroker) -> None:
    send(kafka, b"bad")
    steps = work(kafka, Picky(), "strict", tolerates=False)
    with pytest.raises(
        DataError, match=r"bad is not stored \(TASK_PUT of the record in in-0 at of"
    ):
        run(steps)
    steps.close()
