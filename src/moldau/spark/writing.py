"""What a task of the sink does: write its rows, each of them at least once."""

from collections.abc import Iterator

import pyarrow as pa

from moldau.client.blocking.producer import Producer
from moldau.runtime.clock import SystemClock
from moldau.spark.deliveries import Deliveries
from moldau.spark.parts import parts_of, table_columns
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions
from moldau.spark.worker import settle


def write_rows(
    batches: Iterator[pa.RecordBatch], options: SinkOptions, columns: SinkColumns
) -> int:
    """Write all rows and return their number, once they are stored."""
    settle()
    clock = SystemClock()
    sent_as = table_columns(columns)
    deliveries = Deliveries()
    row_count = 0
    with Producer[bytes, bytes](dict(options.client)) as producer:
        for batch in batches:
            for topic, partition, rows in parts_of(batch, columns, now_ms=clock.now_ms()):
                deliveries.add(
                    producer.send_table(
                        topic,
                        rows,
                        value=sent_as.value,
                        key=sent_as.key,
                        timestamp=sent_as.timestamp,
                        headers=sent_as.headers,
                        partition=partition,
                    )
                )
            row_count += batch.num_rows
        deliveries.finish()
    return row_count
