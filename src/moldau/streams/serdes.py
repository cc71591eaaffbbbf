"""How keys and values are written in bytes: what the user names, without Spark.

`STRING`, `LONG` and `INTEGER` are what Kafka's serializers of these names write. JSON, Avro and
Protobuf have a schema, and their values are structs.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.streams.windows import Duration, milliseconds

if TYPE_CHECKING:
    from moldau.client.arrow.formats import ValueFormat
    from moldau.client.registry import Registry


@dataclass(frozen=True, slots=True)
class PlainColumnSerde:
    """One of the types that need no schema; `type` is Spark's name of it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class JsonColumnSerde:
    """JSON texts of a type as in SQL, e.g. `user string, amount double`."""

    type: str


@dataclass(frozen=True, slots=True, eq=False)
class FormatSerde:
    """A format of `moldau.client.arrow`, which decodes whole columns in Python workers."""

    format: "ValueFormat"


@dataclass(frozen=True, slots=True)
class WindowedSerde:
    """Keys of windows, as Kafka's serializers write them: the key, then times of the window."""

    inner: "Serde"
    is_session: bool = False
    size_ms: int | None = None
    """How long windows are that are no sessions: only their starts are written."""


Serde = PlainColumnSerde | JsonColumnSerde | FormatSerde | WindowedSerde

BYTES = PlainColumnSerde("bytes", "binary")
STRING = PlainColumnSerde("string", "string")
LONG = PlainColumnSerde("long", "bigint")
INTEGER = PlainColumnSerde("integer", "int")


def time_windowed(inner: "Serde", size: Duration) -> WindowedSerde:
    """Keys in windows of this size, as Kafka's TimeWindowedSerializer writes them."""
    return WindowedSerde(inner, size_ms=milliseconds(size, "the size of a window"))


def session_windowed(inner: "Serde") -> WindowedSerde:
    """Keys in sessions, as Kafka's SessionWindowedSerializer writes them."""
    return WindowedSerde(inner, is_session=True)


def json(schema: str) -> JsonColumnSerde:
    """JSON objects with these columns, or JSON of this type: `json("user string, n bigint")`."""
    return JsonColumnSerde(schema)


def avro(
    schema: "str | dict[str, object]",
    *,
    registry: "Registry | None" = None,
    subject: str | None = None,
) -> FormatSerde:
    """Avro records of a schema, given as JSON or as what JSON stands for.

    With a registry they carry the number of their schema; what is written needs a subject.
    """
    from moldau.client.arrow.avro_values import Avro  # noqa: PLC0415 - needs fastavro

    return FormatSerde(Avro(schema, registry=registry, subject=subject))


def in_format(value_format: "ValueFormat") -> FormatSerde:
    """Any format of `moldau.client.arrow`, as JSON with a registry."""
    return FormatSerde(value_format)


def protobuf(
    message: type, *, registry: "Registry | None" = None, subject: str | None = None
) -> FormatSerde:
    """Messages of a generated Protobuf class; with a registry as in `avro`."""
    from moldau.client.arrow.protobuf_values import Protobuf  # noqa: PLC0415 - needs protobuf

    return FormatSerde(Protobuf(message, registry=registry, subject=subject))
