"""Bytes to columns and back, against bytes written by hand."""

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from moldau.streams import (
    BYTES,
    INTEGER,
    LONG,
    STRING,
    StreamsBuilder,
    avro,
    json,
    protobuf,
    session_windowed,
    time_windowed,
)
from moldau.streams.compile.columns import decoded, encoded, serde_for
from moldau.streams.serdes import FormatSerde, PlainColumnSerde, WindowedSerde
from unit.streams.given import Given, GivenInputs, Written, written

pytestmark = pytest.mark.needs("java")
AVRO: dict[str, object] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "item", "type": "string"}, {"name": "count", "type": "long"}],
}


@pytest.mark.parametrize(
    ("serde", "value", "data"),
    [
        (LONG, 258, bytes([0, 0, 0, 0, 0, 0, 1, 2])),
        (LONG, -2, b"\xff" * 7 + b"\xfe"),
        (INTEGER, 258, bytes([0, 0, 1, 2])),
        (INTEGER, -(2**31), bytes([128, 0, 0, 0])),
        (STRING, "Vltava – Elbe", "Vltava – Elbe".encode()),
        (BYTES, b"\0\xff", b"\0\xff"),
    ],
)
def test_plain_values_are_as_kafka_writes_them(
    spark: SparkSession, serde: PlainColumnSerde, value: object, data: bytes
) -> None:
    frame = spark.createDataFrame([(bytearray(data), value)], f"data binary, value {serde.type}")
    read = decoded(f.col("data"), serde)
    (row,) = frame.select(
        read.value.alias("a"), encoded(frame, "value", serde).data.alias("b")
    ).collect()
    assert (row.a, bytes(row.b)) == (value, data)


def test_undecodable_values_are_told_from_null(spark: SparkSession) -> None:
    rows = [(b"abc",), (None,), (b"{}",), (b'{"n": "x"}',), (b'{"n": 1, "other": 2}',)]
    frame = spark.createDataFrame(rows, "data binary")
    number, text = decoded(f.col("data"), LONG), decoded(f.col("data"), json("n bigint"))
    made = frame.select(
        number.error.alias("a"), text.value.alias("b"), text.error.isNotNull().alias("c")
    ).collect()
    assert [row.a for row in made[:2]] == ["3 bytes, long has 8", None]
    assert [row.b if row.b is None else row.b.n for row in made] == [None, None, None, None, 1]
    assert [row.c for row in made] == [True, False, False, True, False]


@pytest.mark.parametrize(
    ("serde", "bad", "reason"),
    [
        (STRING, b"Praha \xe8", "value: not UTF-8: Praha \ufffd"),
        (json("n string"), b'{"n": "\xe8"}', 'value: not JSON of this schema: {"n": "\ufffd"}'),
    ],
    ids=["string", "json"],
)
def test_text_that_is_not_utf_8_is_a_dead_letter(
    spark: SparkSession, serde: PlainColumnSerde, bad: bytes, reason: str
) -> None:
    builder = StreamsBuilder()
    builder.stream("lines", value=serde, dead_letters="unreadable").to("out")
    good = b'{"n":"\xc3\xa9"}'
    records = [Given("lines", "a", good), Given("lines", "b", bad), Given("lines", "c", None)]
    topology = builder.build()
    found = written(spark, topology, records)
    assert found["out"] == [Written(b"a", good, 0), Written(b"c", None, 0)]
    assert found["unreadable"] == [Written(b"b", bad, 0)]
    (query,) = topology.compile(GivenInputs(spark, records), "app")
    (letter,) = query.outputs(query.frame).filter("topic = 'unreadable'").collect()
    assert bytes(letter.headers[-1].value).decode() == reason


def test_a_key_that_is_not_utf_8_is_told_from_null(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(b"\xff",), (None,), (b"",)], "data binary")
    read = decoded(f.col("data"), STRING)
    made = frame.select(read.value.alias("a"), read.error.isNotNull().alias("b")).collect()
    assert [(row.a, row.b) for row in made] == [(None, True), (None, False), ("", False)]


def test_serdes_follow_from_types(spark: SparkSession) -> None:
    schema = spark.sql(
        "select 'a' as s, 1L as l, 1 as i, X'00' as b, struct(1 as n) as o, "
        "struct('k' as key, struct(now() as start, now() as end) as window) as w"
    ).schema
    assert [serde_for(schema[name].dataType) for name in "slib"] == [STRING, LONG, INTEGER, BYTES]
    assert serde_for(schema["o"].dataType) == json("struct<n:int>")
    assert serde_for(schema["w"].dataType) == WindowedSerde(STRING)


def test_json_is_written_of_anything(spark: SparkSession) -> None:
    frame = spark.sql("select struct(1 as n, 'x' as s) as o, 1.5D as d, 'say \"x\"' as s")
    columns = [encoded(frame, name, json("any")).data.cast("string").alias(name) for name in "ods"]
    (row,) = frame.select(*columns).collect()
    assert (row.o, row.d, row.s) == ('{"n":1,"s":"x"}', "1.5", '"say \\"x\\""')


@pytest.mark.parametrize(
    ("serde", "good", "bad", "field"),
    [
        (avro(AVRO), b"\x08boat\x06", b"\x08b", "count"),
        (protobuf(Timestamp), Timestamp(seconds=3).SerializeToString(), b"\xff\xff", "seconds"),
    ],
    ids=["avro", "protobuf"],
)
def test_formats_are_read_and_written_and_their_errors_are_kept(
    spark: SparkSession, serde: FormatSerde, good: bytes, bad: bytes, field: str
) -> None:
    builder = StreamsBuilder()
    orders = builder.stream("orders", value=serde, dead_letters="unreadable")
    orders.map_values(f"value.{field}").to("counts")
    orders.to("same", value=serde)
    records = [Given("orders", "a", good), Given("orders", "b", bad), Given("orders", "c", None)]
    found = written(spark, builder.build(), records)
    assert found["counts"] == [Written(b"a", bytes(7) + b"\3", 0), Written(b"c", None, 0)]
    assert found["same"] == [Written(b"a", good, 0), Written(b"c", None, 0)]
    assert found["unreadable"] == [Written(b"b", bad, 0)]


@pytest.mark.parametrize(
    ("serde", "times", "end_ms"),
    [
        (time_windowed(STRING, 10_000), (5_000,), 15_000),
        (session_windowed(STRING), (7_000, 5_000), 7_000),
    ],
    ids=["time", "session"],
)
def test_keys_in_windows_are_read_as_kafka_writes_them(
    spark: SparkSession, serde: WindowedSerde, times: tuple[int, ...], end_ms: int
) -> None:
    window = b"".join(time.to_bytes(8, "big") for time in times)
    rows = [(b"ann" + window,), (window,), (window[1:],), (b"\xff" + window,), (None,)]
    frame = spark.createDataFrame(rows, "data binary")
    read = decoded(f.col("data"), serde)
    found = frame.select(
        read.value["key"].alias("key"),
        f.unix_millis(read.value["window"]["start"]).alias("start"),
        f.unix_millis(read.value["window"]["end"]).alias("end"),
        read.error.alias("error"),
    ).collect()
    assert tuple(found[0]) == ("ann", 5_000, end_ms, None)
    assert tuple(found[1]) == ("", 5_000, end_ms, None)
    size = len(window)
    assert tuple(found[2]) == (None, None, None, f"{size - 1} bytes, a window alone has {size}")
    assert found[3].error.startswith("not UTF-8")
    assert tuple(found[4]) == (None, None, None, None)
    again = frame.limit(1).select(read.value.alias("key"))
    assert bytes(again.select(encoded(again, "key", serde).data).collect()[0][0]) == rows[0][0]


def test_a_key_does_not_say_how_long_its_window_is() -> None:
    with pytest.raises(TypeError, match=r"time_windowed\(STRING, size\)"):
        decoded(f.col("data"), WindowedSerde(STRING))


def test_a_struct_is_no_number(spark: SparkSession) -> None:
    frame = spark.sql("select struct(1 as n) as value")
    with pytest.raises(TypeError, match="struct<n:int> cannot be written as long: map it"):
        encoded(frame, "value", LONG)
