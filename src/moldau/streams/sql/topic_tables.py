"""Topics as tables of a Spark session: a name that it does not know is looked for among them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from moldau.errors import ErrorCode, KafkaError
from moldau.spark.values import IN_BASE64
from moldau.streams import serdes
from moldau.streams.compile.columns import decoded
from moldau.streams.sql.shapes import AVRO, BYTES, INTEGER, JSON, LONG, PROTOBUF, TEXT, TopicShape
from moldau.streams.sql.statements import BadStatement, DeclareStream

KEY, PARTITION, OFFSET, TIMESTAMP = "_key", "_partition", "_offset", "_timestamp"
OF_RECORD = (KEY, PARTITION, OFFSET, TIMESTAMP)
"""Columns that every topic has, beside those of its values."""
TABLES_MAX = 50
_HEADER_SIZE = 5
_SERDES = {TEXT: serdes.STRING, BYTES: serdes.BYTES, LONG: serdes.LONG, INTEGER: serdes.INTEGER}
_DECLARED = {"topic", "kafka_topic", "format", "value_format", "key", "key_format"}


class ShapeSource(Protocol):
    """Where the shape of a topic is known from."""

    def __call__(self, topic: str) -> TopicShape: ...


@dataclass(frozen=True, slots=True)
class TopicReading:
    """How topics are read: once, or as they grow from `start` on."""

    is_stream: bool = False
    start: str = "earliest"
    watermark: str = ""


class TopicTables:
    """Which tables there are, and the frame of each; shapes are asked for once.

    `source` has the options of the source, `registry` its address if there is one.
    """

    def __init__(
        self, source: dict[str, str], shape_of: Callable[[str], TopicShape], registry: str = ""
    ) -> None:
        self._source = source
        self._shape_of = shape_of
        self._registry = registry
        self._topics: dict[str, str] = {}
        self._shapes: dict[str, TopicShape] = {}
        self._views: set[str] = set()

    def declare(self, declared: DeclareStream) -> None:
        """Take the user's word for what a topic has."""
        settings = declared.settings
        unknown = settings.keys() - _DECLARED
        if unknown:
            raise BadStatement(f"{min(unknown)}: WITH has topic, format and key")
        kind = settings.get("format", settings.get("value_format", JSON)).lower()
        if kind != JSON:
            raise BadStatement(
                f"format {kind}: columns are declared for json; Avro and Protocol Buffers have "
                "their schemas in a registry (--schema-registry), other values are seen"
            )
        key = settings.get("key", settings.get("key_format", TEXT)).lower()
        key = {"string": TEXT, "kafka": TEXT, "long": LONG, "integer": INTEGER}.get(key, key)
        if key not in _SERDES:
            raise BadStatement(f"key {key}: it is one of {', '.join(_SERDES)}")
        topic = settings.get("topic", settings.get("kafka_topic", declared.name))
        self._topics[declared.name] = topic
        self._shapes[declared.name] = TopicShape(JSON, declared.columns, key)

    def forget_views(self, spark: SparkSession) -> None:
        """Let the next statement read topics anew: a frame keeps the offsets of its first use."""
        for name in self._views:
            spark.catalog.dropTempView(name)
        self._views.clear()

    def add_view(self, spark: SparkSession, name: str, reading: TopicReading) -> None:
        """Make a topic a temporary view; BadStatement if there is none."""
        try:
            frame = self.frame(spark, name, reading)
        except KafkaError as error:
            unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION)
            if error.code in unknown:
                raise BadStatement(f"there is no topic {name}: SHOW TOPICS lists them") from error
            raise
        frame.createOrReplaceTempView("`" + name.replace("`", "``") + "`")
        if not reading.is_stream:
            self._views.add(name)

    def frame(self, spark: SparkSession, name: str, reading: TopicReading) -> DataFrame:
        """A topic, or a table that was declared, as a frame."""
        if name not in self._shapes:
            self._shapes[name] = self._shape_of(name)
        shape = self._shapes[name]
        options = {
            **self._source,
            **self._format_options(shape),
            "subscribe": self._topics.get(name, name),
            "columns": "key,value,partition,offset,timestamp",
        }
        if reading.is_stream:
            options["startingOffsets"] = reading.start
        reader = spark.readStream if reading.is_stream else spark.read
        raw = reader.format("moldau").options(**options).load()
        rows = raw.select(*_values(raw, shape), *_of_record(raw, shape))
        return rows.withWatermark(TIMESTAMP, reading.watermark) if reading.watermark else rows

    def _format_options(self, shape: TopicShape) -> dict[str, str]:
        if shape.value not in (AVRO, PROTOBUF):
            return {}
        options = {"valueFormat": shape.value, "valueSchema": shape.schema, "badValues": "null"}
        if shape.value == PROTOBUF:
            options["valueSchema"] = IN_BASE64 + shape.schema
            options["valueMessage"] = shape.message
        return {**options, **({"schemaRegistry": self._registry} if shape.has_header else {})}


def analysed(
    spark: SparkSession, text: str, tables: TopicTables, reading: TopicReading
) -> DataFrame:
    """What Spark makes of a statement; topics that it names become temporary views."""
    for _ in range(TABLES_MAX):
        try:
            return spark.sql(text)
        except AnalysisException as error:
            name = missing_table(error)
            if name is None:
                raise
            tables.add_view(spark, name, reading)
    raise BadStatement(f"more than {TABLES_MAX} topics in one statement")


def missing_table(error: AnalysisException) -> str | None:
    """The table that Spark does not know, if that is what is wrong."""
    if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
        return None
    name = (error.getMessageParameters() or {}).get("relationName", "")
    parts = name.strip("`").split("`.`")
    if len(parts) > 1:
        plain = ".".join(parts)
        raise BadStatement(f"a topic with dots in its name stands in backticks: `{plain}`")
    return parts[0].replace("``", "`")


def _values(raw: DataFrame, shape: TopicShape) -> list[Column]:
    """The columns of values: the fields of a struct, or `value`."""
    value = f.col("value")
    if shape.value == JSON:
        data = f.substring(value, _HEADER_SIZE + 1, 1 << 30) if shape.has_header else value
        schema = StructType.fromDDL(shape.schema)
        assert isinstance(schema, StructType)
        value = f.from_json(data.cast("string"), schema)
        return [value[name].alias(name) for name in schema.names]
    if shape.value in _SERDES:
        return [decoded(value, _SERDES[shape.value]).value.alias("value")]
    declared = raw.schema["value"].dataType
    if isinstance(declared, StructType):
        return [value[name].alias(name) for name in declared.names]
    return [value]


def _of_record(raw: DataFrame, shape: TopicShape) -> list[Column]:
    return [
        decoded(f.col("key"), _SERDES[shape.key]).value.alias(KEY),
        raw["partition"].alias(PARTITION),
        raw["offset"].alias(OFFSET),
        raw["timestamp"].alias(TIMESTAMP),
    ]
