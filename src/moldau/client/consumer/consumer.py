"""The consumer: reads records from topics."""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Self, Unpack

from moldau.client.connection.cluster import Cluster
from moldau.client.consumer import first_topics
from moldau.client.consumer.assignment import Assigned, Assignment
from moldau.client.consumer.fetcher import FETCHED, Fetcher
from moldau.client.consumer.iteration import Iteration
from moldau.client.consumer.log_queries import LogQueries
from moldau.client.consumer.positioning import Positioning
from moldau.client.group.group import GroupClient, PartitionListener, RebalanceListeners
from moldau.client.group.subscription import Subscription
from moldau.client.java_classes import OF_CONSUMERS, deserializers, without
from moldau.client.kinds import Key, Value
from moldau.client.lifetime import Lifetime, Managed
from moldau.client.metrics import Listener, Metrics, Reporter
from moldau.client.offset_lookup import EARLIEST, LATEST, OffsetLookup
from moldau.client.options import ConsumerOptions
from moldau.client.producer.transactions import GroupMetadata
from moldau.client.record import ConsumerRecord
from moldau.client.settings import ConsumerSettings, read_settings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.waiters import Waiters

if TYPE_CHECKING:
    from moldau.client.arrow.formats import ValueFormat
    from moldau.client.arrow.tables import Handed, Table

Deserializer = Callable[[bytes], Value]

_WAIT_S = 60.0


class Consumer(LogQueries, Managed, Generic[Key, Value]):
    """Reads records in order, partition by partition: those of its group, or those it is given.

        async with Consumer("orders", bootstrap_servers="localhost:9092", group_id="g") as consumer:
            async for record in consumer:
                print(record.offset, record.value)

    Topics are named here or by `subscribe` and `assign`. Settings are Kafka's, as keywords
    (`auto_offset_reset="earliest"`) or as a mapping with Kafka's own names, which comes first.
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
        settings, self._topics = first_topics.split(settings, topics)
        self._settings = read_settings(ConsumerSettings, without(settings, OF_CONSUMERS), options)
        self._on_metrics = on_metrics
        self._deserializers = deserializers(settings, key_deserializer, value_deserializer)
        self._assignment = Assignment()
        self.iteration = Iteration(
            self._assignment,
            self._settings.max_poll_records,
            prepare=self._prepare_portion,
            wait=self._wait_for_records,
            note=self._note_poll,
        )
        self._waiters = Waiters()
        self._cluster: Cluster
        self._fetcher: Fetcher
        self._offsets: OffsetLookup
        self._group: GroupClient | None = None
        self._lifetime = Lifetime("consumer")

    # Its life

    async def start(self) -> None:
        """Connect; a broker that is not up yet is waited for, `default.api.timeout.ms` long."""
        settings = self._settings
        self._cluster = Cluster(settings, creates_topics=settings.allow_auto_create_topics)
        is_committed_only = settings.isolation_level == "read_committed"
        self._offsets = OffsetLookup(self._cluster, is_committed_only=is_committed_only)
        positioning = Positioning(self._offsets, self._assignment, settings.auto_offset_reset)
        positioning.when_found = self._wake_readers
        self._fetcher = Fetcher(self._cluster, self._assignment, self._waiters, positioning.locate)
        self._fetcher.deserializers = self._deserializers
        if settings.group_id:
            wake, fail = self._fetcher.wake, self._fetcher.fail
            self._group = GroupClient(self._cluster, self._assignment, wake=wake, failed=fail)
            positioning.fetch_committed = self._group.committed.fetch_places
        await self._lifetime.begin(self._cluster, self._work)
        self._lifetime.when_work_ends(self._wake_readers)
        if self._topics:
            await first_topics.read(self, self._topics, is_in_group=self._group is not None)

    async def close(self, timeout_s: float | None = None) -> None:
        """Commit what was handed out, unless commits are the user's; leave the group; hang up.

        Whatever is not done in time is left undone: the group misses the member after a while.
        """
        if not self._lifetime.close():
            return
        try:
            await self._lifetime.stop_working()
            if self._group is not None:
                self._assignment.consume()
                with suppress(TimeoutError):
                    async with asyncio.timeout(timeout_s):
                        await self._group.close()
        finally:
            self._assignment.replace([])
            self._cluster.close()
            self._wake_readers()

    def _wake_readers(self) -> None:
        self._waiters.wake(FETCHED)

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._fetcher.run())
            if self._group is not None:
                tasks.create_task(self._group.run())
            if self._on_metrics is not None:
                interval_ms = self._settings.metrics_sample_window_ms
                tasks.create_task(Reporter(self.metrics, self._on_metrics, interval_ms).run())

    def metrics(self) -> Metrics:
        """What was done so far, and how it goes, by Kafka's names."""
        self._lifetime.check()
        metrics = {**self._cluster.traffic.metrics(), **self._fetcher.metrics()}
        metrics |= self._assignment.metrics()
        return metrics if self._group is None else {**metrics, **self._group.metrics()}

    # What it reads

    def subscribe(
        self,
        topics: Iterable[str] | re.Pattern[str],
        *,
        on_assigned: PartitionListener | None = None,
        on_revoked: PartitionListener | None = None,
        on_lost: PartitionListener | None = None,
    ) -> None:
        """Share these topics, or all that match a pattern, with the other members of the group.

        `on_assigned` and `on_revoked` get the partitions that come and go, the latter before
        another member can have them; `on_lost`, or else `on_revoked`, if another may have them
        already. Not `poll` calls them: plain functions run in a thread of their own, so that
        heartbeats go on; one that uses the consumer has to be an `async def`.
        """
        if isinstance(topics, re.Pattern):
            subscription = Subscription(pattern=topics)
        else:
            subscription = Subscription((topics,) if isinstance(topics, str) else tuple(topics))
        listeners = RebalanceListeners(on_assigned, on_revoked, on_lost)
        self._require_group().subscribe(subscription, listeners)

    def unsubscribe(self) -> None:
        """Read nothing, and leave the partitions to the other members."""
        self._require_group().unsubscribe()

    def assign(
        self,
        partitions: Iterable[TopicPartition | tuple[str, int]] | Mapping[TopicPartition, int],
    ) -> None:
        """Read these partitions, and no others; a mapping says from which offsets on."""
        self._lifetime.check_thread()
        if self._group is not None and self._group.is_subscribed:
            raise RuntimeError("the group says what is read: either subscribe or assign")
        self._assignment.replace(TopicPartition(*each) for each in partitions)
        if isinstance(partitions, Mapping):
            for partition, offset in partitions.items():
                self._assigned(partition).seek(offset)
        self._fetcher.wake()

    def assignment(self) -> list[TopicPartition]:
        """The partitions that are read."""
        return self._assignment.partitions

    def pause(self, *partitions: TopicPartition) -> None:
        """Hand out nothing of these until they are resumed; nothing is lost."""
        for each in partitions:
            self._assigned(each).is_paused = True
        self.iteration.stop()

    def resume(self, *partitions: TopicPartition) -> None:
        """Go on with these."""
        for each in partitions:
            self._assigned(each).is_paused = False
        self._fetcher.wake()
        self._waiters.wake(FETCHED)

    def paused(self) -> list[TopicPartition]:
        """The partitions that are paused."""
        return [each.partition for each in self._assignment if each.is_paused]

    # Records

    async def poll(
        self, timeout_s: float = 0.0, *, max_records: int | None = None
    ) -> list[ConsumerRecord[Key, Value]]:
        """The next records, at most `max.poll.records`; none if there are none in time.

        Polling again means being done with what the last poll returned.
        """
        self._lifetime.check()
        self._assignment.consume()
        count_max = self._settings.max_poll_records if max_records is None else max_records
        taken = self._assignment.take(count_max)
        if not taken:
            await self._wait_for_news(timeout_s)
            taken = self._assignment.take(count_max)
        self._note_poll()
        self._fetcher.wake()
        return taken

    async def poll_table(
        self,
        timeout_s: float = 0.0,
        *,
        columns: Sequence[str] | None = None,
        key: "ValueFormat | None" = None,
        value: "ValueFormat | None" = None,
        end_offsets: Mapping[TopicPartition, int] | None = None,
    ) -> "Table":
        """All that was fetched, as an Arrow table; empty if nothing is fetched in time.

        Its columns are key, value, topic, partition, offset, timestamp and headers, or those
        that are named. With a format, keys or values are typed; what does not fit it is a
        ValueError, and the next poll begins with the same records. Those from the end offsets
        on are left out. Needs `moldau[arrow]`.
        """
        from moldau.client.arrow import formats, tables  # noqa: PLC0415 - needs an extra

        handed = await self._poll_chunks(timeout_s)
        names = tables.COLUMNS if columns is None else columns
        try:
            table = tables.read_table(handed, names, end_offsets=end_offsets)
            return formats.typed(table, {"key": key, "value": value})
        except ValueError:
            for partition, _, start_offset in reversed(handed):
                self.seek(partition, start_offset)
            raise

    async def _poll_chunks(self, timeout_s: float) -> "list[Handed]":
        """All that was fetched as brokers sent it, and from where on it is to be read."""
        self._prepare_portion()
        self._assignment.consume()
        if not self._has_news():
            await self._wait_for_news(timeout_s)
        self._note_poll()
        self._raise_failure()
        return list(self._assignment.take_chunks())

    def _note_poll(self) -> None:
        """The user goes on with records that were handed out; any thread may call this."""
        if self._group is not None:
            self._group.note_poll()

    async def _wait_for_news(self, timeout_s: float) -> None:
        if self._group is not None:
            self._group.participation.polls.begin()
        try:
            await self._waiters.until(self._has_news, keys=[FETCHED], timeout_s=timeout_s)
        finally:
            if self._group is not None:
                self._group.participation.polls.end()
        self._lifetime.check()
        self._raise_failure()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ConsumerRecord[Key, Value]:
        while (record := self.iteration.records.take()) is None:
            await self.iteration.begin_portion()
        return record  # type: ignore[return-value]

    def _prepare_portion(self) -> None:
        self._lifetime.check()
        self._fetcher.wake()

    async def _wait_for_records(self) -> None:
        await self._wait_for_news(_WAIT_S)

    # Offsets

    async def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Store how far the group is: these offsets, or all that was handed out."""
        await self._require_group().committed.commit(self._or_handed_out(offsets))

    def commit_soon(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Store how far the group is without waiting for it; what goes wrong is logged."""
        self._require_group().commit_soon(self._or_handed_out(offsets))

    def _or_handed_out(
        self, offsets: Mapping[TopicPartition, int] | None
    ) -> Mapping[TopicPartition, int]:
        if offsets is None:
            self._assignment.consume()
            return self._assignment.consumed_offsets()
        return offsets

    def group_metadata(self) -> GroupMetadata:
        """This member as of the last poll, for `producer.send_offsets_to_transaction`."""
        return self._require_group().polled_as

    async def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """How far the group is; partitions of which nothing was committed are left out."""
        return await self._require_group().committed.fetch(partitions)

    async def position(self, partition: TopicPartition) -> int:
        """The offset of the next record that will be handed out."""
        assigned = self._assigned(partition)
        is_known = await self._waiters.until(
            lambda: assigned.position is not None or self._fetcher.failure is not None,
            keys=[FETCHED],
            timeout_s=self._cluster.api_timeout_s,
        )
        self._raise_failure()
        if not is_known or assigned.position is None:
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"{partition} has no position")
        return assigned.position

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Go on from this offset."""
        assert offset >= 0, "an offset is 0 or more"
        self._assigned(partition).seek(offset)
        self._fetcher.wake()

    def seek_to_committed(self, *partitions: TopicPartition) -> None:
        """Go on from what the group has committed, as after an aborted transaction."""
        self._require_group()
        for each in partitions or self._assignment.partitions:
            self._assigned(each).lose_place()
        self._fetcher.wake()

    async def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Go on from the first record of these, or of all partitions."""
        await self._seek_to(EARLIEST, partitions)

    async def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Go on after the last record of these, or of all partitions."""
        await self._seek_to(LATEST, partitions)

    async def seek_to_time(self, time_ms: int, *partitions: TopicPartition) -> None:
        """Go on from the first records at or after a time, or from the end where there is none."""
        wanted = partitions or self._assignment.partitions
        found = await self.offsets_for_times(dict.fromkeys(wanted, time_ms))
        for partition, each in found.items():
            if each is None:
                await self.seek_to_end(partition)
            else:
                self.seek(partition, each.offset)

    def lag(self, partition: TopicPartition) -> int | None:
        """How many offsets are still to be read, as far as is known."""
        return self._assigned(partition).lag

    async def _seek_to(self, at: int, partitions: Sequence[TopicPartition]) -> None:
        wanted = partitions or self._assignment.partitions
        for each in wanted:
            self._assigned(each)
        found = await self._offsets.find(dict.fromkeys(wanted, at))
        for partition, each_found in found.items():
            self.seek(partition, each_found.offset)

    # Checks

    def _has_news(self) -> bool:
        return (
            self._lifetime.is_closed
            or not self._lifetime.is_working
            or self._fetcher.failure is not None
            or any(each.chunks and not each.is_paused for each in self._assignment)
        )

    def _raise_failure(self) -> None:
        failure, self._fetcher.failure = self._fetcher.failure, None
        if failure is not None:
            raise failure

    def _require_group(self) -> GroupClient:
        self._lifetime.check_thread()
        if self._group is None:
            reason = "subscriptions and commits belong to a group: set group_id"
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, reason)
        return self._group

    def _assigned(self, partition: TopicPartition) -> Assigned:
        self._lifetime.check_thread()
        if partition not in self._assignment:
            raise KeyError(f"{partition} is not assigned to this consumer")
        return self._assignment[partition]
