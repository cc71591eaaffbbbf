"""Which columns of a frame become which parts of records."""

from dataclasses import dataclass

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

COLUMNS = ("key", "value", "topic", "partition", "headers", "timestamp")
_TEXT = (StringType, BinaryType)
_HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
_HEADERS = "array<struct<key:string,value:binary>>"


@dataclass(frozen=True, slots=True)
class SinkColumns:
    """The columns that are written; the topic is a name unless it is a column."""

    names: tuple[str, ...]
    topic: str | None

    @classmethod
    def of(cls, schema: StructType, topic: str | None) -> "SinkColumns":
        """Those that a frame has and a sink knows; others are left out. ValueError if one is wrong.

        The option `topic` goes before the column.
        """
        types = {field.name: field.dataType for field in schema.fields}
        if "value" not in types:
            raise ValueError(f"the column 'value' is missing; there are {', '.join(types)}")
        if topic is None and "topic" not in types:
            raise ValueError("say which topic: by the option 'topic', or by a column 'topic'")
        names = tuple(name for name in COLUMNS if name in types)
        if topic is not None:
            names = tuple(name for name in names if name != "topic")
        for name in names:
            _check(name, types[name])
        return cls(names, topic)

    @property
    def are_free(self) -> bool:
        """Whether no row says which partition it goes to, and there is one topic."""
        return self.topic is not None and not {"key", "partition"}.intersection(self.names)


def _check(name: str, kind: DataType) -> None:
    if name in ("key", "value"):
        is_right, wanted = isinstance(kind, _TEXT), "string or binary"
    elif name == "topic":
        is_right, wanted = isinstance(kind, StringType), "string"
    elif name == "partition":
        is_right, wanted = isinstance(kind, IntegerType), "int"
    elif name == "headers":
        is_right, wanted = _has_headers(kind), _HEADERS
    else:
        is_right = isinstance(kind, TimestampType | TimestampNTZType)
        wanted = "timestamp"
    if not is_right:
        raise ValueError(f"the column '{name}' must be {wanted}, not {kind.simpleString()}")


def _has_headers(kind: DataType) -> bool:
    if not isinstance(kind, ArrayType) or not isinstance(kind.elementType, StructType):
        return False
    found = [(field.name, field.dataType) for field in kind.elementType.fields]
    return found == [(field.name, field.dataType) for field in _HEADER.fields]
