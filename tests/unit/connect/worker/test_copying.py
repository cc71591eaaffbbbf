"""Copied records are sent as they are, and it is known where they went."""

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pytest

from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.client.record import ConsumerRecord
from moldau.connect.connector import (
    CopiedRecords,
    Offset,
    PlacedRows,
    Source,
    SourceBatch,
    SourcePartition,
)
from moldau.connect.data.record import Outgoing
from moldau.connect.errors import DataError
from moldau.connect.worker.pipeline import SourcePipeline
from moldau.connect.worker.source_work import SourceDuties, SourceWork
from moldau.testing.broker import EmbeddedBroker

BYTES = {"key.converter": "ByteArray", "value.converter": "ByteArray"}
HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))


def table(*values: bytes | None) -> pa.Table:
    return pa.table(
        {
            "key": pa.array([b"\xff"] * len(values), pa.binary()),
            "value": pa.array(values, pa.binary()),
            "headers": pa.array([[{"key": "h", "value": None}]] * len(values), HEADERS),
            "timestamp": pa.array(range(len(values)), pa.int64()),
        }
    )


class Copies(Source):
    """Two partitions at a time, once."""

    def __init__(self, tables: Sequence[pa.Table]) -> None:
        super().__init__({})
        self.tables = tables
        self.placed: list[list[PlacedRows]] = []
        self.committed: list[tuple[SourcePartition, Offset]] = []

    def partitions(self) -> Sequence[SourcePartition]:
        return [{"p": number} for number in range(len(self.tables))]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        raise AssertionError("they are read together")

    def read_together(
        self, starts: Sequence[tuple[SourcePartition, Offset | None]]
    ) -> dict[int, SourceBatch]:
        return {
            index: SourceBatch([], {"n": 1}, copies=[self._copied(index)])
            for index, (_, offset) in enumerate(starts)
            if offset is None
        }

    def _copied(self, index: int) -> CopiedRecords:
        def note(placed: Sequence[PlacedRows]) -> Iterable[Outgoing]:
            self.placed.append(list(placed))
            return [Outgoing("notes", None, b"%d" % index)]

        return CopiedRecords("copied", index, self.tables[index], note)

    def is_behind(self) -> bool:
        return False

    def commit(self, partition: SourcePartition, offset: Offset) -> None:
        self.committed.append((partition, offset))


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"num.partitions": "2"}


def run(kafka: EmbeddedBroker, source: Copies, more: dict[str, str], **duties: object) -> None:
    told = SourceDuties(
        "c", source.partitions(), "offsets", lambda _: None, lambda *_: None, lambda _: None,
        **duties,  # type: ignore[arg-type]
    )  # fmt: skip

    def producer() -> Producer[bytes, bytes]:
        return Producer(bootstrap_servers=kafka.bootstrap_servers, transactional_id="w")

    work = SourceWork(source, SourcePipeline(BYTES, more), producer, told)
    try:
        assert [work.step(), work.step()] == [True, False]
        assert not work.is_behind()
    finally:
        work.close()


def read(kafka: EmbeddedBroker, topic: str, count: int) -> list[ConsumerRecord[bytes, bytes]]:
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, isolation_level="read_committed"
    ) as consumer:
        consumer.assign(dict.fromkeys(consumer.partitions_of(topic), 0))
        found: list[ConsumerRecord[bytes, bytes]] = []
        while len(found) < count:
            found += consumer.poll(1)
    return sorted(found, key=lambda each: (each.partition, each.offset))


def test_tables_of_all_partitions_are_one_transaction(kafka: EmbeddedBroker) -> None:
    source = Copies([table(b"a", None), table(b"c")])
    run(kafka, source, {})
    found = read(kafka, "copied", 3)
    shown = [(each.partition, each.key, each.value, each.timestamp) for each in found]
    assert shown == [(0, b"\xff", b"a", 0), (0, b"\xff", None, 1), (1, b"\xff", b"c", 0)]
    assert {tuple(each.headers) for each in found} == {(("h", None),)}
    assert source.placed == [[PlacedRows(0, 2, 0)], [PlacedRows(0, 1, 0)]]
    assert source.committed == [({"p": 0}, {"n": 1}), ({"p": 1}, {"n": 1})]
    # One marker each: had there been two transactions, the second would be further on.
    assert [each.offset for each in read(kafka, "offsets", 2)] in ([0, 1], [0, 0])
    assert {each.value for each in read(kafka, "notes", 2)} == {b"0", b"1"}


def test_transformations_may_take_records_out_and_send_them_elsewhere(
    kafka: EmbeddedBroker,
) -> None:
    steps = {
        "transforms": "drop,away",
        "transforms.drop.type": "Filter",
        "transforms.drop.predicate": "gone",
        "predicates": "gone",
        "predicates.gone.type": "RecordIsTombstone",
        "transforms.away.type": "RegexRouter",
        "transforms.away.regex": "none",
        "transforms.away.replacement": "other",
    }
    source = Copies([table(b"a", b"b", None, b"d")])
    run(kafka, source, steps)
    assert [each.value for each in read(kafka, "copied", 3)] == [b"a", b"b", b"d"]
    assert source.placed == [[PlacedRows(0, 2, 0), PlacedRows(3, 1, 2)]]
    steps["transforms.away.regex"] = "copied"
    elsewhere = Copies([table(b"a")])
    run(kafka, elsewhere, steps)
    assert (len(read(kafka, "other", 1)), elsewhere.placed) == (1, [[]])


def test_what_cannot_be_converted_fails_or_is_left_out(kafka: EmbeddedBroker) -> None:
    cast = {"transforms": "c", "transforms.c.type": "Cast$Value", "transforms.c.spec": "int8",
            "value.converter": "String"}  # fmt: skip
    with pytest.raises(DataError):
        run(kafka, Copies([table(b"x")]), cast)
    skipped: list[DataError] = []
    run(kafka, Copies([table(b"x")]), cast, tolerates=True, skipped=skipped.append)
    assert len(skipped) == 1


def test_a_record_that_the_broker_finds_too_large_is_named(kafka: EmbeddedBroker) -> None:
    with pytest.raises(DataError, match=r"copied: .*raise max\.message\.bytes of the topic"):
        run(kafka, Copies([table(b"x" * 2**21)]), {})
