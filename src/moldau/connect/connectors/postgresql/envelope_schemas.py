"""The schemas of Debezium's records that only PostgreSQL's have."""

from moldau.connect.connectors.capture.envelope_schemas import SNAPSHOT_MARKER, TRANSACTION_BLOCK
from moldau.connect.data.schema import BYTES, INT64, STRING, optional, struct

SOURCE = struct(
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
        ("schema", STRING),
        ("table", STRING),
        ("txId", optional(INT64)),
        ("lsn", optional(INT64)),
        ("xmin", optional(INT64)),
        ("origin", optional(STRING)),
        ("origin_lsn", optional(INT64)),
    ],
    name="io.debezium.connector.postgresql.Source",
    version=1,
)
MESSAGE_KEY = struct(
    [("prefix", optional(STRING))],
    name="io.debezium.connector.postgresql.MessageKey",
    version=1,
)
MESSAGE_VALUE = struct(
    [
        ("op", STRING),
        ("ts_ms", optional(INT64)),
        ("source", SOURCE),
        ("transaction", TRANSACTION_BLOCK),
        (
            "message",
            struct(
                [("prefix", optional(STRING)), ("content", optional(BYTES))],
                name="io.debezium.connector.postgresql.Message",
                version=1,
            ),
        ),
    ],
    name="io.debezium.connector.postgresql.MessageValue",
    version=1,
)
