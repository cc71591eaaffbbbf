"""The edges of a topology: topics to typed records, and records to rows of topics."""

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from moldau.streams.compile.columns import decoded, encoded, serde_for
from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.expressions import column
from moldau.streams.compile.records import (
    HEADERS,
    HEADERS_TYPE,
    KEY,
    PLACE,
    TIMESTAMP,
    VALUE,
    place_of_source,
    with_columns,
)
from moldau.streams.errors import HEADER_NAMES
from moldau.streams.nodes import nodes
from moldau.streams.serdes import Serde, WindowedSerde
from moldau.streams.windows import SessionWindows

_UNREADABLE, _UNWRITABLE = "UndecodableRecord", "UnwritableRecord"
_OF_KEY = "key: "
_LETTER_MAX = 1000
# What a batch of one record has beside key, value and headers, at most.
_RECORD_OVERHEAD = 100
# What a sink gives to whatever writes it.
OUTPUT_COLUMNS = (KEY, VALUE, "topic", HEADERS, TIMESTAMP)


def source(node: nodes.Source, compilation: Compilation) -> DataFrame:
    """The records of topics; what cannot be read stops the query, or is left out."""
    topics = tuple(topic_name(topic, compilation.application) for topic in node.topics)
    frame = _with_place(compilation.inputs.stream(topics))
    return _readable(frame, node)


def global_table(node: nodes.GlobalTableSource, compilation: Compilation) -> DataFrame:
    """The rows that a topic has now, as a batch: the latest value of each key.

    Within a partition that is the one with the last offset. Offsets of several partitions say
    nothing of each other: should a key be in more than one, the newest of their last ones holds.
    """
    (topic,) = node.topics
    raw = compilation.inputs.snapshot(topic_name(topic, compilation.application))
    frame = _readable(_with_place(raw), node).filter(f.col(KEY).isNotNull())
    row = f.struct(VALUE, TIMESTAMP, HEADERS, PLACE)
    last = f.max_by(row, f.col(PLACE)["offset"]).alias("row")
    rows = frame.groupBy(KEY, f.col(PLACE)["partition"].alias("partition")).agg(last)
    newest = f.max_by("row", f.col("row")[TIMESTAMP]).alias("row")
    return rows.groupBy(KEY).agg(newest).select(KEY, "row.*").filter(f.col(VALUE).isNotNull())


def decode(node: nodes.Decode, compilation: Compilation) -> DataFrame:
    """What can be read, of records that are still bytes."""
    rows = _with_results(compilation.parent(node), node.key, node.value)
    good = rows.filter(f.col("error").isNull())
    return with_columns(good, key=f.col("new_key"), value=f.col("new_value"))


def dead_letters(node: nodes.DeadLetters, compilation: Compilation) -> DataFrame:
    """What cannot be read, as it came, with the headers of Kafka Connect's dead letters."""
    rows = _with_results(compilation.parent(node), node.expected_key, node.expected_value)
    bad = rows.filter(f.col("error").isNotNull())
    is_key = f.col("error").startswith(_OF_KEY)
    stage = f.when(is_key, f.lit("KEY_CONVERTER")).otherwise(f.lit("VALUE_CONVERTER"))
    headers = _with_error_headers(compilation, node.name, stage, f.lit(_UNREADABLE))
    return _outputs(bad.withColumn(HEADERS, headers), _topic_column(node, compilation))


def sink(node: nodes.Sink, compilation: Compilation) -> DataFrame:
    """Rows for topics, with keys and values in bytes; what cannot be written goes by the policy."""
    frame = compilation.parent(node)
    rows = frame.withColumn("topic", _topic_column(node, compilation))
    key = encoded(frame, KEY, node.key or key_serde(node, frame))
    value = encoded(frame, VALUE, node.value)
    rows = rows.withColumn("new_key", key.data).withColumn("new_value", value.data)
    error = f.coalesce(key.error, value.error, _too_large(compilation))
    rows = rows.withColumn("error", error)
    written = _written_or_not(rows, node, compilation)
    return _outputs(written, f.col("topic"))


def _written_or_not(rows: DataFrame, node: nodes.Sink, compilation: Compilation) -> DataFrame:
    """Rows whose error stops the query, that are left out, or that go elsewhere."""
    is_good = f.col("error").isNull()
    key, value = f.col("new_key"), f.col("new_value")
    match compilation.errors.on_error:
        case "fail":
            message = _failure(f"{node.name} cannot write a record of ")
            value = f.when(is_good, value).otherwise(f.raise_error(message))
            return rows.withColumn(KEY, key).withColumn(VALUE, value)
        case "continue":
            good = rows.filter(is_good)
            return good.withColumn(KEY, key).withColumn(VALUE, value)
        case "dead-letter":
            stage, kind = f.lit("KAFKA_PRODUCE"), f.lit(_UNWRITABLE)
            headers = _with_error_headers(compilation, node.name, stage, kind)
            topic = f.lit(compilation.errors.dead_letters)
            # What is too large is too large for any topic: its place is all that is left of it.
            shown = f.encode(f.left(f.col(VALUE).cast("string"), f.lit(_LETTER_MAX)), "UTF-8")
            columns = {
                HEADERS: f.when(is_good, f.col(HEADERS)).otherwise(headers),
                "topic": f.when(is_good, f.col("topic")).otherwise(topic),
                KEY: f.when(is_good, key),
                VALUE: f.when(is_good, value).otherwise(shown),
            }
            others = [name for name in rows.columns if name not in columns]
            return rows.select(*others, *(made.alias(name) for name, made in columns.items()))


def _too_large(compilation: Compilation) -> Column:
    """Why a record is more than a producer may send."""
    most = compilation.inputs.record_bytes_max
    sizes = [f.coalesce(f.length(f"new_{name}"), f.lit(0)) for name in (KEY, VALUE)]
    size = sizes[0] + sizes[1] + f.lit(_RECORD_OVERHEAD)
    why = f.concat(size.cast("string"), f.lit(f" bytes are more than max.request.size = {most}"))
    return f.when(size > most, why)


def key_serde(node: nodes.Sink, frame: DataFrame) -> Serde:
    """What fits the type of the keys; only the topology knows whether windows are sessions."""
    serde = serde_for(frame.schema[KEY].dataType)
    if not isinstance(serde, WindowedSerde):
        return serde
    windows = (nodes.windows_of(each) for each in nodes.ancestors(node))
    nearest = next((each for each in windows if each is not None), None)
    return replace(serde, is_session=isinstance(nearest, SessionWindows))


def topic_name(topic: nodes.Topic, application: str) -> str:
    return topic.of(application) if isinstance(topic, nodes.InternalTopic) else topic


def _topic_column(node: nodes.Sink, compilation: Compilation) -> Column:
    if isinstance(node.topic, str | nodes.InternalTopic):
        return f.lit(topic_name(node.topic, compilation.application))
    return column(node.topic)


def _outputs(rows: DataFrame, topic: Column) -> DataFrame:
    return rows.withColumn("topic", topic).select(*OUTPUT_COLUMNS)


def _with_place(raw: DataFrame) -> DataFrame:
    return raw.select(KEY, VALUE, TIMESTAMP, HEADERS, place_of_source().alias(PLACE))


def _readable(frame: DataFrame, node: nodes.Source) -> DataFrame:
    rows = _with_results(frame, node.key, node.value)
    if node.on_error == "continue":
        rows = rows.filter(f.col("error").isNull())
        return with_columns(rows, key=f.col("new_key"), value=f.col("new_value"))
    message = f.concat(
        _failure("undecodable record in "),
        f.lit("; on_error= and dead_letters= let the others go on"),
    )
    checked = f.when(f.col("error").isNull(), f.col("new_value")).otherwise(f.raise_error(message))
    return with_columns(rows, key=f.col("new_key"), value=checked)


def _failure(words: str) -> Column:
    """Where a record came from, and what is wrong with it."""
    place = f.col(PLACE)
    return f.concat_ws(
        "",
        f.lit(words),
        place["topic"],
        f.lit("-"),
        place["partition"],
        f.lit(" at offset "),
        place["offset"],
        f.lit(": "),
        f.col("error"),
    )


def _with_error_headers(
    compilation: Compilation, step: str, stage: Column, exception: Column
) -> Column:
    """The headers of a record, and why it is a dead letter."""
    place = f.col(PLACE)
    values = (
        place["topic"],
        place["partition"].cast("string"),
        place["offset"].cast("string"),
        f.lit(compilation.application),
        stage,
        f.lit(step),
        exception,
        f.col("error"),
    )
    added = [
        f.struct(f.lit(name).alias("key"), f.encode(value, "UTF-8").alias("value"))
        for name, value in zip(HEADER_NAMES, values, strict=True)
    ]
    return f.concat(f.coalesce(f.col(HEADERS), f.array().cast(HEADERS_TYPE)), f.array(*added))


def _with_results(frame: DataFrame, key: Serde, value: Serde) -> DataFrame:
    """The records with what their bytes stand for, or why that is not known."""
    read_key, read_value = decoded(f.col(KEY), key), decoded(f.col(VALUE), value)
    return frame.select(
        "*",
        read_key.value.alias("new_key"),
        read_value.value.alias("new_value"),
        f.coalesce(
            f.concat(f.lit(_OF_KEY), read_key.error), f.concat(f.lit("value: "), read_value.error)
        ).alias("error"),
    )
