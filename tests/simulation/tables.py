"""A compacted topic: of each key the last value survives, and everything keeps its place."""

import asyncio

from moldau.log.log import Log
from moldau.records.batch import Producer, iterate_headers, read_records, write_batch
from moldau.records.record import Record
from simulation.administering import Admin
from simulation.client import TABLE, Client
from simulation.history import History, KeyedRecord, Outcome, Write
from simulation.shapes import Shape
from simulation.writing import Window, begin_producer

CLEANER = {
    "log.cleaner.enable": "true",
    "log.cleaner.backoff.ms": "1000",
    "log.cleaner.dedupe.buffer.size": "2097152",
}
"""Settings of brokers that compact often, for these logs are small."""
_CONFIGS = {
    "cleanup.policy": "compact",
    "segment.bytes": "2048",
    "min.cleanable.dirty.ratio": "0.2",
}
_KEYS = 12
_PAUSE_S = 0.3
_BATCH_RECORDS_MAX = 6
_RECORDS_MAX_BYTES = 1 << 20


class TableWriter:
    """Overwrites a few keys, again and again, with values that are numbered."""

    def __init__(self, client: Client, shape: Shape, history: History) -> None:
        client.topic = TABLE
        self._client = client
        self._shape = shape
        self._history = history

    async def run(self, until_s: float) -> None:
        """Write until a moment; then see the last batches through."""
        client, loop = self._client, asyncio.get_running_loop()
        await Admin(client).create(TABLE, self._shape, _CONFIGS)
        producer_id, epoch = await begin_producer(client)
        window, number = Window(client, 0, in_flight_max=1), 0
        while loop.time() < until_s:
            count = 1 + client.chance.randrange(_BATCH_RECORDS_MAX)
            keys = [f"key-{client.chance.randrange(_KEYS)}" for _ in range(count)]
            values = [f"{client.name}#{number + index}" for index in range(count)]
            write = Write(client.name, 0, values)
            self._history.table_writes.append((write, keys))
            records = [
                Record(index, client.timestamp_ms, key.encode(), value.encode())
                for index, (key, value) in enumerate(zip(keys, values, strict=True))
            ]
            batch = write_batch(records, producer=Producer(producer_id, epoch, number))
            await window.send(write, bytes(batch))
            number += count
            await asyncio.sleep(_PAUSE_S * client.chance.random())
        await window.settle()
        client.close()


def keyed_records(log: Log) -> list[KeyedRecord]:
    """What is left in a replica of the table."""
    found = []
    for segment in log.segments:
        data = segment.file().read(0, segment.size)
        for position, header in iterate_headers(data):
            if header.record_count:
                found += [
                    KeyedRecord(
                        record.offset, (record.key or b"").decode(), (record.value or b"").decode()
                    )
                    for record in read_records(data, position, limit_bytes=_RECORDS_MAX_BYTES)
                ]
    return found


def acknowledged_records(history: History) -> list[KeyedRecord]:
    """What was acknowledged of the table, with its place."""
    return [
        KeyedRecord(write.base_offset + index, keys[index], value)
        for write, keys in history.table_writes
        if write.outcome is Outcome.DONE
        for index, value in enumerate(write.values)
    ]
