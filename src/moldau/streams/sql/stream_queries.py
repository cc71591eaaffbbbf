"""Queries that run: what `CREATE STREAM ... AS SELECT` starts, and what they write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.errors import ErrorCode
from moldau.spark.exactly_once import write_stream
from moldau.spark.reasons import reason
from moldau.streams.compile.columns import encoded
from moldau.streams.sql.statements import BadStatement, CreateStream
from moldau.streams.sql.topic_tables import KEY, OF_RECORD, TIMESTAMP, TopicReading

_SETTINGS = {"topic", "kafka_topic", "key", "from", "watermark", "partitions", "replicas"}
_NO_APPEND = "STREAMING_OUTPUT_MODE"


@dataclass(frozen=True, slots=True)
class StreamTarget:
    """Where streams write, with the options of the sink, and where they note how far they are."""

    sink: Mapping[str, str] = field(repr=False)
    admin: Mapping[str, str] = field(repr=False)
    checkpoint: str
    trigger: Mapping[str, object] = field(default_factory=dict)


class StreamQueries:
    """The streams of a session, by their names."""

    def __init__(self, target: StreamTarget) -> None:
        self._target = target
        self._queries: dict[str, StreamingQuery] = {}

    def start(self, created: CreateStream, frame: DataFrame) -> str:
        """Begin to write, exactly once; returns the topic. A name that ran before goes on."""
        name, settings = created.name, created.settings
        running = self._queries.get(name)
        if running is not None and running.isActive:
            raise BadStatement(f"{name} runs already: DROP STREAM {name} ends it")
        topic = settings.get("topic", settings.get("kafka_topic", name))
        rows = written(frame, settings.get("key", ""))
        self._make_topic(topic, settings)
        options = {
            **self._target.sink,
            "topic": topic,
            "checkpointLocation": f"{self._target.checkpoint}/{name}",
        }
        trigger = self._target.trigger or None

        def begin(mode: str) -> StreamingQuery:
            return write_stream(rows, options, trigger=trigger, query_name=name, output_mode=mode)

        self._queries[name] = in_fitting_mode(begin)
        return topic

    def stop(self, name: str) -> None:
        """End a stream; it goes on where it ended if it is created again."""
        if name not in self._queries:
            raise BadStatement(f"there is no stream {name} here: SHOW STREAMS lists them")
        self._queries.pop(name).stop()

    def stop_all(self) -> None:
        for query in self._queries.values():
            query.stop()

    def rows(self) -> list[tuple[str, str, int]]:
        """Name, state and rows of the last micro-batch of each."""
        return [(name, _state(query), _last_rows(query)) for name, query in self._queries.items()]

    @property
    def are_there(self) -> bool:
        return bool(self._queries)

    def all_ended(self) -> bool:
        """Whether none runs any more."""
        return not any(query.isActive for query in self._queries.values())

    def failures(self) -> list[str]:
        """Why streams ended that should not have."""
        return [
            f"{name} failed: {why}"
            for name, query in self._queries.items()
            if not query.isActive and (why := _failure(query))
        ]

    def _make_topic(self, topic: str, settings: Mapping[str, str]) -> None:
        counts = {
            name: int(settings[name]) for name in ("partitions", "replicas") if name in settings
        }
        wanted = NewTopic(
            topic,
            partitions=counts.get("partitions", -1),
            replication_factor=counts.get("replicas", -1),
        )
        with Admin(self._target.admin) as admin:
            for error in admin.create_topics([wanted]).errors.values():
                if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise error


def in_fitting_mode(start: Callable[[str], StreamingQuery]) -> StreamingQuery:
    """Start a query: rows once, if they are final, else every change of an aggregate."""
    try:
        return start("append")
    except AnalysisException as error:
        if not (error.getCondition() or "").startswith(_NO_APPEND):
            raise
        return start("update")


def reading_of(created: CreateStream) -> TopicReading:
    """How the topics of a stream are read; BadStatement if WITH has something unknown."""
    unknown = created.settings.keys() - _SETTINGS
    if unknown:
        known = ", ".join(sorted(_SETTINGS - {"kafka_topic"}))
        raise BadStatement(f"{min(unknown)}: WITH has {known}")
    start = created.settings.get("from", "earliest").lower()
    if start not in ("earliest", "latest"):
        raise BadStatement(f"from {start}: it is earliest or latest")
    return TopicReading(True, start, created.settings.get("watermark", ""))


def written(frame: DataFrame, key: str = "") -> DataFrame:
    """The rows of a query as records.

    `_key`, or the column that is named, is the key and `_timestamp` the time; a lone `value` is
    written as it is, other columns are the fields of a JSON object.
    """
    names = [name for name in frame.columns if name not in OF_RECORD]
    key = key or (KEY if KEY in frame.columns else "")
    if key and key not in frame.columns:
        raise BadStatement(f"key {key}: the query has no such column")
    if len(set(frame.columns)) < len(frame.columns):
        raise BadStatement("two columns have the same name: give them names by AS")
    if not names:
        raise BadStatement("the query has no column but those of the record: select a value")
    if names == ["value"]:
        value = encoded(frame, "value", None).data
    else:
        fields = f.struct(*(f.col(_quoted(name)).alias(name) for name in names))
        value = f.encode(f.to_json(fields, {"ignoreNullFields": "false"}), "UTF-8")
    columns = [value.alias("value")]
    if key:
        columns.append(encoded(frame, key, None).data.alias("key"))
    if TIMESTAMP in frame.columns:
        columns.append(f.col(TIMESTAMP).alias("timestamp"))
    return frame.select(*columns)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _failure(query: StreamingQuery) -> str:
    error = query.exception()
    return "" if error is None else reason(str(error))


def _state(query: StreamingQuery) -> str:
    if query.isActive:
        return "running"
    why = _failure(query)
    return f"failed: {why}" if why else "ended"


def _last_rows(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return 0 if progress is None else int(progress["numInputRows"])
