"""The producer for code that blocks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Unpack

from moldau.client.blocking.client import BlockingClient
from moldau.client.blocking.direct import DirectWay, suits
from moldau.client.kinds import SentKey, SentValue
from moldau.client.metrics import Listener, Metrics
from moldau.client.options import ProducerOptions
from moldau.client.partitioner import Partitioner
from moldau.client.producer import producer
from moldau.client.producer.producer import HeaderHook, Serializer
from moldau.client.producer.sent_table import SentTable
from moldau.client.producer.transactions import GroupMetadata
from moldau.client.record import Headers, RecordMetadata
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt


class Producer(BlockingClient[producer.Producer[SentKey, SentValue]], Generic[SentKey, SentValue]):
    """`moldau.Producer` for code that blocks; usable from several threads."""

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        key_serializer: Serializer[SentKey] | None = None,
        value_serializer: Serializer[SentValue] | None = None,
        partitioner: Partitioner | None = None,
        header_hook: HeaderHook | None = None,
        on_metrics: Listener | None = None,
        **options: Unpack[ProducerOptions],
    ) -> None:
        client = producer.Producer[SentKey, SentValue](
            settings,
            key_serializer=key_serializer,
            value_serializer=value_serializer,
            partitioner=partitioner,
            header_hook=header_hook,
            on_metrics=on_metrics,
            **options,
        )
        super().__init__(client, "moldau-producer")
        self._append = client.append if client.is_plain else _refuse
        self._direct: DirectWay | None = None
        if suits(self.client.settings):
            self._direct = DirectWay(self.thread, self.client.admission, self.client.sender)

    def send(
        self,
        topic: str,
        value: SentValue | None = None,
        *,
        key: SentKey | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
    ) -> "Receipt":
        """Take a record, and return what knows its place in the log once it has one.

        Blocks only while the topic is new or the buffer is full, up to `max.block.ms`.
        """
        receipt = self._append(topic, value, key, partition, timestamp_ms, headers)
        if receipt is not None:
            return receipt
        self.thread.check()
        record = self.client.outgoing(topic, key, value, timestamp_ms, headers)
        admission = self.client.admission
        receipt = admission.admit(topic, record, partition)
        if receipt is None:
            receipt = self.thread.call(admission.wait(topic, record, partition))
        return receipt

    def send_and_wait(
        self,
        topic: str,
        value: SentValue | None = None,
        *,
        key: SentKey | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
    ) -> RecordMetadata:
        """Write one record, and return its place in the log."""
        if self._direct is not None:
            self.thread.check()
            record = self.client.outgoing(topic, key, value, timestamp_ms, headers)
            sent = self._direct.send(topic, record, partition)
            if sent is not None:
                return sent.result()
        receipt = self.send(
            topic,
            value,
            key=key,
            partition=partition,
            timestamp_ms=timestamp_ms,
            headers=headers,
        )
        return receipt.result()

    def send_table(
        self,
        topic: str,
        table: object,
        *,
        value: str | None = "value",
        key: str | None = None,
        timestamp: str | None = None,
        headers: str | None = None,
        partition: int | None = None,
    ) -> SentTable:
        """Take the rows of an Arrow table, or of anything with Arrow's interface, as records.

        The names are those of columns: of binaries or texts, of times or milliseconds, and of
        lists of names and values. Blocks while the buffer is full; needs `moldau[arrow]`.
        """
        from moldau.client.arrow import sending  # noqa: PLC0415 - needs an extra

        self.thread.check()
        admission = self.client.admission
        self.thread.call(admission.wait_for_topic(topic))
        columns = sending.TableColumns(value, key, timestamp, headers)
        sent = SentTable()
        for number, records in sending.pieces(admission, topic, table, columns, partition):
            target = TopicPartition(topic, number)
            batch = admission.add(target, records)
            if batch is None:
                batch = self.thread.call(admission.wait_to_add(target, records))
            sent.add(batch)
        return sent

    def flush(self, timeout_s: float | None = None) -> None:
        """Return when all that was sent before is stored or has failed."""
        self.thread.call(self.client.flush(timeout_s))

    def metrics(self) -> Metrics:
        """What was done so far, and how it goes, by Kafka's names."""
        return self.client.metrics()

    # Transactions

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All records that are sent in this block become visible together, or none."""
        self.begin_transaction()
        try:
            yield
            self.commit_transaction()
        except BaseException:
            self.thread.call(self.client.abort_unless_lost())
            raise

    def begin_transaction(self) -> None:
        """Open a transaction: records can be sent until it is committed or aborted."""
        self.thread.call(self.client.begin_transaction())

    def commit_transaction(self) -> None:
        """Make all records of the transaction visible, once they are all stored."""
        self.thread.call(self.client.commit_transaction())

    def abort_transaction(self) -> None:
        """Take back all records of the transaction."""
        self.thread.call(self.client.abort_transaction())

    def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, int], group: GroupMetadata | str
    ) -> None:
        """Commit offsets of a group if, and only if, the transaction is committed."""
        self.thread.call(self.client.send_offsets_to_transaction(offsets, group))

    def partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic."""
        return self.thread.call(self.client.partitions_of(topic))

    def close(self, timeout_s: float | None = None) -> None:
        """Send what is still to be sent, then hang up."""
        if not self.thread.is_closed:
            try:
                if timeout_s is not None:
                    self.thread.call(self.client.close(timeout_s))
            finally:
                super().close()
                if self._direct is not None:
                    self._direct.close()


def _refuse(*_record: object) -> "Receipt | None":
    """Take no record as it is: it has to be serialized, or its partition chosen."""
    return None
