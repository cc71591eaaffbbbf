"""Any format of Spark's as a source or a sink: Avro, ORC, XML, JDBC, Delta by its own jar, …

The worker's session does it. What is written goes through the driver, a held portion at a time;
what is read is read once, as a whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from typing import Any, Protocol

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting, one_of
from moldau.connect.config.values import below, required
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.files.source import as_values
from moldau.connect.connectors.holding import SETTINGS as HOLDING
from moldau.connect.connectors.holding import HeldPart, HoldingSink
from moldau.connect.connectors.lakes.columns import with_types
from moldau.connect.errors import ConfigError, ConnectError, RetriableConnectError

_MODES = ("append", "overwrite", "error", "ignore")
_TOPIC = "${topic}"
_FORMAT, _ROWS = "format", "rows"
# Sources and sinks of other packages may not know Spark's newest types.
_TYPES = {pa.time32("ms"): pa.string()}


class SparkLender(Protocol):
    """Lends the worker's session."""

    def session(self, name: str) -> AbstractContextManager[Any]:
        """The session for a connector's thread."""


class SparkSink(HoldingSink):
    """Writes what it held back, at least once."""

    settings = (
        PluginSetting(_FORMAT, required=True, importance="HIGH"),
        PluginSetting("mode", default="append", check=one_of(*_MODES)),
        *HOLDING,
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._format = required(config, _FORMAT)
        self._mode = config.get("mode", "append")
        self._options = below(config, "option.")
        self._sessions: SparkLender | None = None

    def use_engine(self, engine: object) -> None:
        """The worker's."""
        self._sessions = _lender(engine)

    def store(self, parts: Sequence[HeldPart]) -> None:
        """One job for each topic."""
        for topic, of_topic in groupby(parts, lambda each: each.topic):
            rows = pa.concat_tables([self.rows_of(each) for each in of_topic])
            options = {k: text.replace(_TOPIC, topic) for k, text in self._options.items()}
            with _borrowed(self._sessions, self.config) as spark:
                frame = spark.createDataFrame(with_types(rows, _TYPES))
                frame.write.format(self._format).options(**options).mode(self._mode).save()


class SparkSource(Source):
    """Reads once: the offset is how many rows there were."""

    settings = (
        PluginSetting(_FORMAT, required=True, importance="HIGH"),
        PluginSetting("topic", required=True, importance="HIGH"),
        PluginSetting("schema", default=""),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._format = required(config, _FORMAT)
        self._options = below(config, "option.")
        self._sessions: SparkLender | None = None

    def use_engine(self, engine: object) -> None:
        """The worker's."""
        self._sessions = _lender(engine)

    def partitions(self) -> Sequence[SourcePartition]:
        """What the options name."""
        return [{_FORMAT: self._format, "path": self._options.get("path", "")}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """All rows in one batch, since Spark does not give them in the same order again."""
        del partition, limit
        if start is not None:
            return None
        with _borrowed(self._sessions, self.config) as spark:
            reader = spark.read.format(self._format).options(**self._options)
            if self.config.get("schema"):
                reader = reader.schema(self.config["schema"])
            rows: pa.Table = reader.load().toArrow()
        return SourceBatch([as_values(rows)] if rows.num_rows else [], {_ROWS: rows.num_rows})


def _lender(engine: object) -> SparkLender:
    if not hasattr(engine, "session"):
        raise ConfigError("connector.class=spark needs engine=spark in the worker's settings")
    found: SparkLender = engine
    return found


@contextmanager
def _borrowed(sessions: SparkLender | None, config: Mapping[str, str]) -> Iterator[Any]:
    from moldau.spark.queries import FAILURES, why_failed  # noqa: PLC0415 - with Spark alone

    assert sessions is not None, "it was given an engine before"
    try:
        with sessions.session(config.get("name", "")) as spark:
            yield spark
    except ConnectError:
        raise
    except FAILURES as error:
        raise RetriableConnectError(f"{config[_FORMAT]}: {why_failed(error)}") from None
