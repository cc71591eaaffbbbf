"""What clients hand out: a record that was read, or where one was written."""

from typing import NamedTuple


class RecordMetadata(NamedTuple):
    """Where a record is stored; the offset is -1 if the broker did not say."""

    topic: str
    partition: int
    offset: int
    timestamp: int
