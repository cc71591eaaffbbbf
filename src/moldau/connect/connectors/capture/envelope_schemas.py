"""The schemas of Debezium's records that are the same for all tables and databases."""

from moldau.connect.data.schema import INT64, STRING, Kind, Schema, array, optional, struct

SNAPSHOT_MARKER = Schema(
    Kind.STRING,
    optional=True,
    name="io.debezium.data.Enum",
    version=1,
    parameters={
        "allowed": "true,first,first_in_data_collection,last_in_data_collection,last,"
        "false,incremental"
    },
    default="false",
)
TRANSACTION_BLOCK = struct(
    [("id", STRING), ("total_order", INT64), ("data_collection_order", INT64)],
    name="event.block",
    version=1,
    optional=True,
)
TRANSACTION_KEY = struct(
    [("id", STRING)], name="io.debezium.connector.common.TransactionMetadataKey", version=1
)
TRANSACTION_VALUE = struct(
    [
        ("status", STRING),
        ("id", STRING),
        ("event_count", optional(INT64)),
        (
            "data_collections",
            array(
                struct(
                    [("data_collection", STRING), ("event_count", INT64)],
                    name="event.collection",
                    version=1,
                    optional=True,
                ),
                optional=True,
            ),
        ),
        ("ts_ms", INT64),
    ],
    name="io.debezium.connector.common.TransactionMetadataValue",
    version=1,
)
HEARTBEAT_KEY = struct(
    [("serverName", STRING)], name="io.debezium.connector.common.ServerNameKey", version=1
)
HEARTBEAT_VALUE = struct(
    [("ts_ms", INT64)], name="io.debezium.connector.common.Heartbeat", version=1
)


def envelope_schema(topic: str, row: Schema, source: Schema) -> Schema:
    """Of the records of a table's topic."""
    return struct(
        [
            ("before", row),
            ("after", row),
            ("source", source),
            ("transaction", TRANSACTION_BLOCK),
            ("op", STRING),
            ("ts_ms", optional(INT64)),
            ("ts_us", optional(INT64)),
            ("ts_ns", optional(INT64)),
        ],
        name=f"{topic}.Envelope",
        version=2,
    )
