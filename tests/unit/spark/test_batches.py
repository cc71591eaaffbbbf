"""Batches have the columns and types that Spark asks for, and a bounded size."""

import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StructField, StructType

from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.records.batch import (
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Producer,
    stamp,
    stamp_log_append_time,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.fetched import AbortedProducer, Selection
from moldau.records.record import Record
from moldau.spark.batches import BATCH_BYTES_MAX, BatchMaker
from moldau.spark.fetching import FetchedBytes
from moldau.spark.values import ValueOptions

NAME = TopicPartition("orders", 3)
MIB = 1 << 20


def batches(data: bytes, *columns: str, **selection: object) -> list[pa.RecordBatch]:
    fetched = FetchedBytes(memoryview(data), Selection(**selection))  # type: ignore[arg-type]
    return list(BatchMaker(NAME, columns).batches(fetched))


def test_columns_come_in_the_order_asked_for_with_sparks_types() -> None:
    data = write_batch([Record(7, 1234, b"k", b"v", ((b"h", None),)), Record(8, 1235, None, None)])
    (batch,) = batches(
        bytes(data),
        *("offset", "timestampType", "headers", "topic", "timestamp", "partition", "value", "key"),
    )
    assert batch.to_pylist() == [
        {
            "offset": number,
            "timestampType": 0,
            "headers": headers,
            "topic": "orders",
            "timestamp": pa.scalar(time_us, pa.timestamp("us", tz="UTC")).as_py(),
            "partition": 3,
            "value": value,
            "key": key,
        }
        for number, headers, time_us, key, value in (
            (7, [{"key": "h", "value": None}], 1_234_000, b"k", b"v"),
            (8, None, 1_235_000, None, None),
        )
    ]
    assert batch.schema.field("topic").type == pa.string()
    assert batch.schema.field("timestampType").type == pa.int32()


def test_partitions_of_a_topic_have_its_name_from_the_same_memory() -> None:
    fetched = FetchedBytes(memoryview(write_batch([Record(0, 5, None, b"v")])), Selection())
    names = []
    for number in range(2):
        (batch,) = BatchMaker(TopicPartition("orders", number), ("topic",)).batches(fetched)
        names.append(batch.column("topic"))
    first, second = (each.buffers()[2].address for each in names)
    assert first == second


def test_the_time_of_the_broker_is_told_from_that_of_the_producer() -> None:
    batch = bytearray(write_batch([Record(0, 5, None, b"v")], attributes=LOG_APPEND_TIME))
    stamp_log_append_time(batch, 0, 77)
    (found,) = batches(bytes(batch), "timestampType", "timestamp")
    assert found.column("timestampType").to_pylist() == [1]
    assert found.column("timestamp").cast(pa.int64()).to_pylist() == [77_000]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_batches_are_bounded_whatever_an_answer_decompresses_to(codec: Codec) -> None:
    rows = [Record(number, 0, None, bytes(MIB)) for number in range(5)]
    data = b"".join(
        bytes(
            write_batch(
                [Record(5 * start + row.offset, 0, None, row.value) for row in rows],
                base_offset=5 * start,
                attributes=codec,
            )
        )
        for start in range(5)
    )
    found = batches(data, "offset", "value")
    assert [offset for batch in found for offset in batch.column("offset").to_pylist()] == [
        *range(25)
    ]
    assert len(found) > 1
    assert max(batch.nbytes for batch in found) <= BATCH_BYTES_MAX


def test_one_large_batch_is_divided_too() -> None:
    rows = [Record(number, 0, None, bytes(MIB)) for number in range(20)]
    found = batches(bytes(write_batch(rows, attributes=Codec.ZSTD)), "offset", "value")
    assert max(batch.nbytes for batch in found) <= BATCH_BYTES_MAX
    assert sum(batch.num_rows for batch in found) == 20


def test_what_was_aborted_stays_out_and_what_follows_does_not() -> None:
    def transactional(offset: int) -> bytes:
        rows = [Record(offset, 0, None, bytes(6 * MIB))]
        producer = Producer(1, 0, 0)
        attributes = TRANSACTIONAL | Codec.GZIP
        return bytes(
            write_batch(rows, base_offset=offset, attributes=attributes, producer=producer)
        )

    def marker(offset: int, *, is_commit: bool) -> bytes:
        batch = write_end_marker(
            EndMarker(is_commit, 0), producer_id=1, producer_epoch=0, timestamp_ms=0
        )
        stamp(batch, 0, base_offset=offset, leader_epoch=0)
        return bytes(batch)

    # Each of the large records is a batch for Spark of its own: the aborted transaction ended
    # in an earlier one must not be remembered in the later ones.
    data = (
        transactional(0)
        + marker(1, is_commit=False)
        + transactional(2)
        + transactional(3)
        + marker(4, is_commit=True)
    )
    found = batches(data, "offset", "value", aborted=(AbortedProducer(1, 0),))
    assert [batch.column("offset").to_pylist() for batch in found] == [[2], [3]]


def test_damage_is_told_with_its_place() -> None:
    data = bytearray(write_batch([Record(0, 0, None, b"value")]))
    data[-1] ^= 1
    with pytest.raises(KafkaError, match=r"orders-3 at 0: .*checksum"):
        batches(bytes(data), "value")


def test_a_value_that_does_not_fit_its_schema_is_told_with_its_place() -> None:
    schema = StructType([StructField("age", LongType())])
    maker = BatchMaker(NAME, ("value",), ValueOptions("json", schema.json()))
    data = write_batch([Record(5, 0, None, b'{"age":1}'), Record(6, 0, None, b"?")], base_offset=5)
    with pytest.raises(
        ValueError, match=r"orders-3, rows from offset 5: row 1 is not JSON: .*null"
    ):
        list(maker.batches(FetchedBytes(memoryview(bytes(data)), Selection())))
