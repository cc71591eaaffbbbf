"""The schemas of Debezium's records that only MariaDB's and MySQL's have."""

from moldau.connect.connectors.capture.envelope_schemas import SNAPSHOT_MARKER
from moldau.connect.data.schema import INT32, INT64, STRING, Schema, optional, struct


def source_schema(connector: str) -> Schema:
    """Of the block `source`, by the word for the connector in names of Java's packages."""
    return struct(
        [
            ("version", STRING),
            ("connector", STRING),
            ("name", STRING),
            ("ts_ms", INT64),
            ("snapshot", SNAPSHOT_MARKER),
            ("db", STRING),
            ("sequence", optional(STRING)),
            ("ts_us", optional(INT64)),
            ("ts_ns", optional(INT64)),
            ("table", optional(STRING)),
            ("server_id", INT64),
            ("gtid", optional(STRING)),
            ("file", STRING),
            ("pos", INT64),
            ("row", INT32),
            ("thread", optional(INT64)),
            ("query", optional(STRING)),
        ],
        name=f"io.debezium.connector.{connector}.Source",
        version=1,
    )
