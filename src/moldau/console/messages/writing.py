"""Writes tables of records to a topic: copies of others, or what was uploaded."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from moldau.client.producer.producer import Producer


@dataclass(frozen=True, slots=True)
class WritingRules:
    """What records keep of where they come from."""

    keeps_partition: bool = False
    """Else the key decides."""
    keeps_time: bool = False
    """Else it is that of writing."""


async def write_table(
    producer: Producer[bytes, bytes], topic: str, table: pa.Table, rules: WritingRules
) -> int:
    """Write all rows and return how many, when they are stored."""
    time = "timestamp" if rules.keeps_time else None
    count = 0
    for partition, rows in _parts(table, rules):
        sent = await producer.send_table(
            topic,
            rows,
            value="value",
            key="key",
            timestamp=time,
            headers="headers",
            partition=partition,
        )
        count += await sent
    return count


def _parts(table: pa.Table, rules: WritingRules) -> list[tuple[int | None, pa.Table]]:
    if not rules.keeps_partition:
        return [(None, table)]
    numbers = sorted(set(table["partition"].to_pylist()))
    return [(each, table.filter(pc.equal(table["partition"], each))) for each in numbers]
