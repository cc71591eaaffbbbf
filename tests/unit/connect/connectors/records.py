"""Records for the tests of sinks that hold them back."""

import pyarrow as pa

from moldau.connect.data.arrow import table_of_records
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import INT64, STRING, Schema, optional, struct

ROW = struct([("id", INT64), ("name", optional(STRING))])


def records(
    first: int, count: int, partition: int = 0, schema: Schema = ROW, topic: str = "t"
) -> pa.Table:
    """So many records of a partition from an offset on; their ids are their offsets."""
    return table_of_records(
        [
            ConnectRecord(
                topic,
                NULL,
                Datum({"id": offset, "name": f"n{offset}"}, schema),
                (),
                offset * 1000,
                partition,
                offset,
            )
            for offset in range(first, first + count)
        ]
    )
