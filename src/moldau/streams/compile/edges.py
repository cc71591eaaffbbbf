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
from moldau.streams.nodes import nodes
from moldau.streams.serdes import Serde, WindowedSerde
from moldau.streams.windows import SessionWindows

ERROR_HEADER = "moldau.error"
# What a sink gives to whatever writes it.
OUTPUT_COLUMNS = (KEY, VALUE, "topic", HEADERS, TIMESTAMP)


def source(node: nodes.Source, compilation: Compilation) -> DataFrame:
    """The records of topics; what cannot be read stops the query."""
    topics = tuple(topic_name(topic, compilation.application) for topic in node.topics)
    frame = _with_place(compilation.inputs.stream(topics))
    return _decoded_or_raised(frame, node)


def global_table(node: nodes.GlobalTableSource, compilation: Compilation) -> DataFrame:
    """The rows that a topic has now, as a batch: the latest value of each key."""
    (topic,) = node.topics
    raw = compilation.inputs.snapshot(topic_name(topic, compilation.application))
    frame = _decoded_or_raised(_with_place(raw), node)
    latest = f.max_by(f.struct(VALUE, TIMESTAMP, HEADERS, PLACE), f.col(PLACE)["offset"])
    rows = frame.filter(f.col(KEY).isNotNull()).groupBy(KEY).agg(latest.alias("row"))
    return rows.select(KEY, "row.*").filter(f.col(VALUE).isNotNull())


def decode(node: nodes.Decode, compilation: Compilation) -> DataFrame:
    """What can be read, of records that are still bytes."""
    rows = _with_results(compilation.parent(node), node.key, node.value)
    good = rows.filter(f.col("error").isNull())
    return with_columns(good, key=f.col("new_key"), value=f.col("new_value"))


def dead_letters(node: nodes.DeadLetters, compilation: Compilation) -> DataFrame:
    """What cannot be read, as it came."""
    rows = _with_results(compilation.parent(node), node.expected_key, node.expected_value)
    bad = rows.filter(f.col("error").isNotNull())
    told = f.struct(
        f.lit(ERROR_HEADER).alias("key"), f.encode(f.col("error"), "UTF-8").alias("value")
    )
    headers = f.concat(f.coalesce(f.col(HEADERS), f.array().cast(HEADERS_TYPE)), f.array(told))
    return _outputs(bad.withColumn(HEADERS, headers), _topic_column(node, compilation))


def sink(node: nodes.Sink, compilation: Compilation) -> DataFrame:
    """Rows for topics, with keys and values in bytes."""
    frame = compilation.parent(node)
    topic = _topic_column(node, compilation)
    rows = frame.withColumn("topic", topic)
    rows = rows.withColumn("new_key", encoded(frame, KEY, node.key or key_serde(node, frame)))
    rows = rows.withColumn("new_value", encoded(frame, VALUE, node.value))
    rows = rows.withColumn(KEY, f.col("new_key")).withColumn(VALUE, f.col("new_value"))
    return _outputs(rows, f.col("topic"))


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


def _decoded_or_raised(frame: DataFrame, node: nodes.Source) -> DataFrame:
    rows = _with_results(frame, node.key, node.value)
    topic = f.col(PLACE)["topic"]
    told = f.concat_ws(
        "",
        f.lit("undecodable record in "),
        topic,
        f.lit(": "),
        f.col("error"),
        f.lit(" (a topic for such records can be given as dead_letters=)"),
    )
    checked = f.when(f.col("error").isNull(), f.col("new_value")).otherwise(f.raise_error(told))
    return with_columns(rows, key=f.col("new_key"), value=checked)


def _with_results(frame: DataFrame, key: Serde, value: Serde) -> DataFrame:
    """The records with what their bytes stand for, or why that is not known."""
    read_key, read_value = decoded(f.col(KEY), key), decoded(f.col(VALUE), value)
    return frame.select(
        "*",
        read_key.value.alias("new_key"),
        read_value.value.alias("new_value"),
        f.coalesce(
            f.concat(f.lit("key: "), read_key.error), f.concat(f.lit("value: "), read_value.error)
        ).alias("error"),
    )
