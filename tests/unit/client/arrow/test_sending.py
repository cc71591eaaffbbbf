"""Tables become records, whatever they come from and wherever they go."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from moldau.client.arrow import sending
from moldau.client.blocking import Producer
from moldau.client.partitioner import partition_of_key
from moldau.errors import ErrorCode, InvalidRecord, UnknownTopicOrPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Delay, Fail

TABLE = pa.table({"id": ["a", "b", None, "d"], "value": [b"1", None, b"", b"4"]})


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"num.partitions": "3"}


@pytest.fixture
def producer(kafka: EmbeddedBroker) -> Iterator[Producer[bytes, bytes]]:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        yield producer


def test_keys_go_where_java_puts_them(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    keys = [b"key %d" % number for number in range(1000)]
    table = pa.table({"k": keys, "v": [b"%d" % number for number in range(1000)]})
    sent = producer.send_table("t", table, key="k", value="v")
    assert sent.result(10) == 1000
    assert sent.done()
    stored = kafka.records("t")
    for number, key in enumerate(keys):
        partition = partition_of_key(key, range(3))
        assert (key, b"%d" % number) in [(each.key, each.value) for each in stored[partition]]
    assert sum(map(len, stored.values())) == 1000
    for records in stored.values():
        numbers = [int(each.value or b"") for each in records]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("key", ["id", None])
def test_a_partitioner_is_asked_for_every_row(kafka: EmbeddedBroker, key: str | None) -> None:
    asked: list[bytes | None] = []

    def choose(topic: str, key: bytes | None, partitions: Sequence[int]) -> int:
        assert topic == "t"
        asked.append(key)
        return partitions[-1] if key == b"d" else partitions[len(asked) % 2]

    servers = kafka.bootstrap_servers
    with Producer[bytes, bytes](bootstrap_servers=servers, partitioner=choose) as producer:
        producer.send_table("t", TABLE.slice(1), key=key).result(10)
    assert asked == ([b"b", None, b"d"] if key else [None, None, None])
    stored = {number: [each.value for each in rows] for number, rows in kafka.records("t").items()}
    last = {0: [b""], 1: [None], 2: [b"4"]} if key else {0: [b""], 1: [None, b"4"], 2: []}
    assert {number: stored.get(number, []) for number in range(3)} == last


def test_all_parts_of_records_come_from_columns(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    headers = [[{"key": "h", "value": b"1"}, {"key": "n", "value": None}], None, []]
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    table = pa.table(
        {
            "k": pa.array(["a", None, "c"], pa.large_string()),
            "v": pa.array(["x", "y", "x"]).dictionary_encode(),
            "t": pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 3, pa.timestamp("us", "UTC")),
            "h": pa.array(headers, kind),
        }
    )
    producer.send_table("t", table, key="k", value="v", timestamp="t", headers="h", partition=1)
    producer.flush()
    records = kafka.records("t")[1]
    assert [(each.key, each.value) for each in records] == [
        (b"a", b"x"),
        (None, b"y"),
        (b"c", b"x"),
    ]
    assert {each.timestamp for each in records} == {1767225600000}
    assert [each.headers for each in records] == [((b"h", b"1"), (b"n", None)), (), ()]


@pytest.mark.parametrize(
    "make",
    [
        lambda: TABLE,
        lambda: TABLE.to_batches()[0],
        TABLE.to_reader,
        lambda: pl.from_arrow(TABLE),
        lambda: duckdb.from_arrow(TABLE),
        lambda: pd.DataFrame({"id": ["a", "b", None, "d"], "value": [b"1", None, b"", b"4"]}),
        lambda: pa.concat_tables([TABLE, TABLE]).slice(4),
    ],
    ids=["table", "batch", "reader", "polars", "duckdb", "pandas", "slice"],
)
def test_anything_with_arrows_interface_is_taken(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes], make: object
) -> None:
    assert callable(make)
    producer.send_table("t", make(), key="id", partition=0).result(10)
    assert [(each.key, each.value) for each in kafka.records("t")[0]] == [
        (b"a", b"1"),
        (b"b", None),
        (None, b""),
        (b"d", b"4"),
    ]


def test_without_keys_slices_go_to_one_partition_after_another(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_BYTES_MAX", 1000)
    table = pa.table({"value": [b"v" * 100] * 100})
    producer.send_table("t", table).result(10)
    counts = Counter({number: len(each) for number, each in kafka.records("t").items()})
    assert counts.total() == 100
    assert len([count for count in counts.values() if count]) >= 2


def test_tables_wait_for_room_and_keep_the_order_of_records(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Delay(0.002))
    numbers = [b"%05d" % number for number in range(5000)]
    with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, buffer_memory=20_000, batch_size=2000
    ) as producer:
        producer.send("t", b"first", partition=0)
        producer.send_table("t", pa.table({"value": numbers}), partition=0)
        producer.send("t", b"last", partition=0)
    assert [each.value for each in kafka.records("t")[0]] == [b"first", *numbers, b"last"]


async def test_the_asyncio_form_has_it_as_well(kafka: EmbeddedBroker) -> None:
    from moldau.client.producer.producer import Producer as AsyncProducer

    async with AsyncProducer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        sent = await producer.send_table("t", TABLE, key="id")
        assert await sent == 4
    assert sum(map(len, kafka.records("t").values())) == 4


def test_a_failure_comes_out_of_the_receipt(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    kafka.control("Produce", lambda _: Fail(ErrorCode.INVALID_RECORD))
    sent = producer.send_table("t", TABLE)
    with pytest.raises(InvalidRecord):
        sent.result(10)


def test_batches_that_are_too_large_are_split(
    kafka: EmbeddedBroker, producer: Producer[bytes, bytes]
) -> None:
    def refuse(call: Call) -> Action:
        size = len(call.request.topic_data[0].partition_data[0].records)
        return Fail(ErrorCode.MESSAGE_TOO_LARGE) if size > 50_000 else None

    kafka.control("Produce", refuse)
    table = pa.table({"value": [b"%d" % number for number in range(20_000)]})
    assert producer.send_table("t", table, partition=0).result(20) == 20_000
    assert [each.value for each in kafka.records("t")[0]] == table["value"].to_pylist()


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (TABLE, {"value": "v"}, "no column 'v': it has id, value"),
        (pa.table({"value": [1.5]}), {}, "binary or text, not double"),
        ([b"v"], {}, "list is no Arrow table"),
        (TABLE, {"partition": 3}, "no partition 3"),
        (pa.table({"value": ["v"], "t": [None]}), {"timestamp": "t"}, "a timestamp is null"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    producer: Producer[bytes, bytes], table: object, options: dict[str, object], message: str
) -> None:
    kinds = (ValueError, TypeError, UnknownTopicOrPartition)
    with pytest.raises(kinds, match=message):
        producer.send_table("t", table, **options)  # type: ignore[arg-type]
