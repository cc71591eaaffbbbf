"""Sends copied records, as a whole table where nothing changes them, and says where they went."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from moldau.client.blocking.producer import Producer
from moldau.client.producer.sent_table import SentTable
from moldau.client.record import RecordMetadata
from moldau.connect.connector import CopiedRecords, PlacedRows
from moldau.connect.data.record import Outgoing
from moldau.connect.errors import DataError
from moldau.connect.worker.pipeline import SourcePipeline, copied_records

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt

Send = Callable[[Outgoing], "Receipt | None"]
"""Sends one record; None if it was left out."""


class SentCopy:
    """Copied records on their way."""

    def __init__(
        self, copied: CopiedRecords, sent: "SentTable | list[tuple[int, Receipt]]"
    ) -> None:
        self.copied = copied
        self._sent = sent

    def places(self) -> list[PlacedRows]:
        """Wait until they are stored, and say where."""
        if isinstance(self._sent, SentTable):
            self._sent.result()
            found, row = [], 0
            for count, offset in self._sent.places():
                found.append(PlacedRows(row, count, offset))
                row += count
            return found
        stored = [(row, receipt.result()) for row, receipt in self._sent]
        return _joined(self.copied, stored)


def _joined(
    copied: CopiedRecords, stored: Iterable[tuple[int, RecordMetadata]]
) -> list[PlacedRows]:
    """Neighbours in both; those that a transformation has sent elsewhere are left out."""
    found: list[PlacedRows] = []
    for row, place in stored:
        if (place.topic, place.partition) != (copied.topic, copied.partition):
            continue
        if found:
            last = found[-1]
            if (last.row + last.count, last.offset + last.count) == (row, place.offset):
                found[-1] = replace(last, count=last.count + 1)
                continue
        found.append(PlacedRows(row, 1, place.offset))
    return found


def send_copied(
    copied: CopiedRecords,
    pipeline: SourcePipeline,
    producer: Producer[bytes, bytes],
    send: Send,
    skip: Callable[[DataError], None],
) -> SentCopy:
    """Send all of them; `skip` raises what is not tolerated."""
    if pipeline.keeps_bytes:
        names = {"key": "key", "timestamp": "timestamp", "headers": "headers"}
        sent = producer.send_table(copied.topic, copied.table, partition=copied.partition, **names)
        return SentCopy(copied, sent)
    receipts: list[tuple[int, Receipt]] = []
    for row, record in enumerate(copied_records(copied)):
        found = pipeline.converted(record)
        if isinstance(found, DataError):
            skip(found)
        elif found is not None:
            receipt = send(found)
            if receipt is not None:
                receipts.append((row, receipt))
    return SentCopy(copied, receipts)
