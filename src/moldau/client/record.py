"""What clients hand out: a record that was read, or where one was written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple

from moldau.client.kinds import Key, Value
from moldau.model import TopicPartition
from moldau.records.fetched import kernel

Headers = Sequence[tuple[str, bytes | None]]


class RecordMetadata(NamedTuple):
    """Where a record is stored; the offset is -1 if the broker did not say."""

    topic: str
    partition: int
    offset: int
    timestamp: int


if TYPE_CHECKING:

    class ConsumerRecord(Generic[Key, Value]):
        """A record that was read. Header names are UTF-8, what is not is replaced."""

        def __init__(  # noqa: PLR0917 - as the kernel has it
            self,
            topic: str,
            partition: int,
            offset: int,
            timestamp: int,
            key: Key | None,
            value: Value | None,
            headers: tuple[tuple[str, bytes | None], ...] = (),
        ) -> None:
            self.topic = topic
            self.partition = partition
            self.offset = offset
            self.timestamp = timestamp
            self.key = key
            self.value = value
            self.headers = headers

        @property
        def topic_partition(self) -> TopicPartition:
            """Where it came from, as `seek` and `commit` want it."""

        def astuple(self) -> tuple[object, ...]:
            """All its parts."""

else:
    ConsumerRecord = kernel.ConsumerRecord


class OffsetAndTimestamp(NamedTuple):
    """The first record at or after a time."""

    offset: int
    timestamp: int
