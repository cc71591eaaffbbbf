"""The consumer for code that blocks."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Unpack

from moldau.client.blocking.client import BlockingClient
from moldau.client.consumer import consumer
from moldau.client.consumer.consumer import Deserializer
from moldau.client.kinds import Key, Value
from moldau.client.metrics import Listener, Metrics
from moldau.client.options import ConsumerOptions
from moldau.client.producer.transactions import GroupMetadata
from moldau.client.record import ConsumerRecord, OffsetAndTimestamp
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.arrow.formats import ValueFormat
    from moldau.client.arrow.tables import Table

BlockingListener = Callable[[list[TopicPartition]], None]
"""Is called with partitions, in a thread of its own: it may use the consumer."""


class Consumer(BlockingClient[consumer.Consumer[Key, Value]], Generic[Key, Value]):
    """`moldau.Consumer` for code that blocks; heartbeats go on whatever that code does.

    with Consumer("orders", bootstrap_servers="localhost:9092", group_id="shop") as consumer:
        for record in consumer:
            print(record.offset, record.value)
    """

    def __init__(
        self,
        settings: Mapping[str, object] | str | None = None,
        *topics: str,
        key_deserializer: Deserializer[Key] | None = None,
        value_deserializer: Deserializer[Value] | None = None,
        on_metrics: Listener | None = None,
        **options: Unpack[ConsumerOptions],
    ) -> None:
        client = consumer.Consumer[Key, Value](
            settings,
            *topics,
            key_deserializer=key_deserializer,
            value_deserializer=value_deserializer,
            on_metrics=on_metrics,
            **options,
        )
        self._records = client.iteration.records
        self._records.refill = self._refill
        super().__init__(client, "moldau-consumer")

    def close(self, timeout_s: float | None = None) -> None:
        """Commit what was handed out, leave the group, hang up; no longer than `timeout_s`."""
        if not self.thread.is_closed:
            try:
                self.thread.call(self.client.close(timeout_s))
            finally:
                super().close()

    def metrics(self) -> Metrics:
        """What was done so far, and how it goes, by Kafka's names."""
        return self.thread.call_function(self.client.metrics)

    # What it reads

    def subscribe(
        self,
        topics: Iterable[str] | re.Pattern[str],
        *,
        on_assigned: BlockingListener | None = None,
        on_revoked: BlockingListener | None = None,
        on_lost: BlockingListener | None = None,
    ) -> None:
        """Share these topics, or all that match a pattern, with the other members of the group."""
        self.thread.call_function(
            lambda: self.client.subscribe(
                topics, on_assigned=on_assigned, on_revoked=on_revoked, on_lost=on_lost
            )
        )

    def unsubscribe(self) -> None:
        """Read nothing, and leave the partitions to the other members."""
        self.thread.call_function(self.client.unsubscribe)

    def assign(
        self,
        partitions: Iterable[TopicPartition | tuple[str, int]] | Mapping[TopicPartition, int],
    ) -> None:
        """Read these partitions, and no others; a mapping says from which offsets on."""
        self.thread.call_function(lambda: self.client.assign(partitions))

    def assignment(self) -> list[TopicPartition]:
        """The partitions that are read."""
        return self.thread.call_function(self.client.assignment)

    def pause(self, *partitions: TopicPartition) -> None:
        """Hand out nothing of these until they are resumed; nothing is lost."""
        self.thread.call_function(lambda: self.client.pause(*partitions))

    def resume(self, *partitions: TopicPartition) -> None:
        """Go on with these."""
        self.thread.call_function(lambda: self.client.resume(*partitions))

    def paused(self) -> list[TopicPartition]:
        """The partitions that are paused."""
        return self.thread.call_function(self.client.paused)

    # Records

    def poll(
        self, timeout_s: float = 0.0, *, max_records: int | None = None
    ) -> list[ConsumerRecord[Key, Value]]:
        """The next records, at most `max.poll.records`; none if there are none in time."""
        return self.thread.call(self.client.poll(timeout_s, max_records=max_records))

    def poll_table(
        self,
        timeout_s: float = 0.0,
        *,
        columns: Sequence[str] | None = None,
        key: "ValueFormat | None" = None,
        value: "ValueFormat | None" = None,
        end_offsets: Mapping[TopicPartition, int] | None = None,
    ) -> "Table":
        """All that was fetched, as an Arrow table; empty if nothing is fetched in time."""
        return self.thread.call(
            self.client.poll_table(
                timeout_s, columns=columns, key=key, value=value, end_offsets=end_offsets
            )
        )

    def __iter__(self) -> Iterator[ConsumerRecord[Key, Value]]:
        return self._records  # type: ignore[return-value]

    def __next__(self) -> ConsumerRecord[Key, Value]:
        return next(self._records)  # type: ignore[arg-type]

    def _refill(self) -> None:
        """Get the iterator more records, in the caller's thread if there are any at hand."""
        self.thread.check()
        if not self.client.iteration.goes_on():
            self.thread.call(self.client.iteration.begin_portion())

    # Offsets

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Store how far the group is: these offsets, or all that was handed out."""
        self.thread.call(self.client.commit(offsets))

    def commit_soon(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Store how far the group is without waiting for it; what goes wrong is logged."""
        self.thread.call_function(lambda: self.client.commit_soon(offsets))

    def group_metadata(self) -> GroupMetadata:
        """This member as of the last poll, for `producer.send_offsets_to_transaction`."""
        return self.thread.call_function(self.client.group_metadata)

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """How far the group is; partitions of which nothing was committed are left out."""
        return self.thread.call(self.client.committed(partitions))

    def position(self, partition: TopicPartition) -> int:
        """The offset of the next record that will be handed out."""
        return self.thread.call(self.client.position(partition))

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Go on from this offset."""
        self.thread.call_function(lambda: self.client.seek(partition, offset))

    def seek_to_committed(self, *partitions: TopicPartition) -> None:
        """Go on from what the group has committed, as after an aborted transaction."""
        self.thread.call_function(lambda: self.client.seek_to_committed(*partitions))

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Go on from the first record of these, or of all partitions."""
        self.thread.call(self.client.seek_to_beginning(*partitions))

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Go on after the last record of these, or of all partitions."""
        self.thread.call(self.client.seek_to_end(*partitions))

    def seek_to_time(self, time_ms: int, *partitions: TopicPartition) -> None:
        """Go on from the first records at or after a time, or from the end where there is none."""
        self.thread.call(self.client.seek_to_time(time_ms, *partitions))

    def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the logs of partitions begin."""
        return self.thread.call(self.client.beginning_offsets(partitions))

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the logs of partitions end, for readers."""
        return self.thread.call(self.client.end_offsets(partitions))

    def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first records at or after these times; None where there is none so late."""
        return self.thread.call(self.client.offsets_for_times(times_ms))

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """The partitions of a topic."""
        return self.thread.call(self.client.partitions_of(topic))

    def lag(self, partition: TopicPartition) -> int | None:
        """How many offsets are still to be read, as far as is known."""
        return self.thread.call_function(lambda: self.client.lag(partition))
