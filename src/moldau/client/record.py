"""What clients hand out: a record that was read, or where one was written."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from moldau.model import TopicPartition

Key = TypeVar("Key")
Value = TypeVar("Value")
Headers = Sequence[tuple[str, bytes | None]]


class RecordMetadata(NamedTuple):
    """Where a record is stored; the offset is -1 if the broker did not say."""

    topic: str
    partition: int
    offset: int
    timestamp: int


class ConsumerRecord(NamedTuple, Generic[Key, Value]):
    """A record that was read. Header names are UTF-8, what is not is replaced."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: Key | None
    value: Value | None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @property
    def topic_partition(self) -> TopicPartition:
        """Where it came from, as `seek` and `commit` want it."""
        return TopicPartition(self.topic, self.partition)


class OffsetAndTimestamp(NamedTuple):
    """The first record at or after a time."""

    offset: int
    timestamp: int
