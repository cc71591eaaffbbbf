"""One partition's log: batches in offset order, appended at the end, dropped at both ends.

    log start offset <= last stable offset <= high watermark <= log end offset

The leader appends with `append_as_leader`, which gives out offsets; a follower with
`append_as_follower`, which keeps the leader's. The owner of the partition moves the high
watermark. A disk call that fails raises KAFKA_STORAGE_ERROR and takes the volume offline.

What takes long is handed out instead of done: `moldau.log.flush` says what to sync,
`expire` which files to remove. Times are wall-clock milliseconds.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log import read, replay, timestamps
from moldau.log.batches import read_batches, require_rising
from moldau.log.doomed import Doomed
from moldau.log.leader_epochs import FILE_NAME as EPOCHS_FILE_NAME
from moldau.log.leader_epochs import EpochEnd, LeaderEpochs
from moldau.log.producer_state import Batch, Origin, Producers
from moldau.log.read import Fetched
from moldau.log.room import NO_ROOM
from moldau.log.segment import Segment
from moldau.log.segments import Segments
from moldau.log.shared import Shared
from moldau.log.snapshots import Snapshots
from moldau.log.time_index import TimestampOffset
from moldau.log.transaction_index import AbortedTransaction
from moldau.log.verification import Guard
from moldau.log.volume import Folder
from moldau.model import NO_PRODUCER_ID, TopicPartition
from moldau.records.batch import BatchHeader
from moldau.records.buffers import ReadableBuffer, WritableBuffer
from moldau.records.opening import Opening
from moldau.records.scratch import Scratch
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.log import appending
    from moldau.log.appending import Appended
else:
    appending = native.kernel("moldau.log._appending", "moldau.log.appending")


class Log:
    """The batches of one partition and everything that is derived from them."""

    __slots__ = (
        "_doomed", "_shared", "config", "epochs", "flushed_at_ms", "folder", "has_changed",
        "high_watermark", "log_start_offset", "name_changes", "producers", "recovery_point",
        "roll_jitter_ms", "room", "segments", "snapshots", "synced_name_changes", "topic_id",
        "truncation_count",
    )  # fmt: skip

    def __init__(
        self, folder: Folder, config: TopicConfig, segments: Segments, shared: Shared
    ) -> None:
        """Join the parts of a log; `moldau.log.opening` finds or creates them."""
        self.folder = folder
        self.config = config
        self.segments = segments
        self.epochs = LeaderEpochs(folder.disk, f"{folder.path}/{EPOCHS_FILE_NAME}")
        self.producers = Producers()
        self.snapshots = Snapshots(folder)
        self.topic_id: bytes | None = None
        self.log_start_offset = segments.first.base_offset
        self.high_watermark = self.recovery_point = self.log_start_offset
        self._shared = shared
        self._doomed = Doomed(folder)
        self.flushed_at_ms = self.truncation_count = 0
        self.has_changed = True  # since it was closed cleanly
        self.name_changes, self.synced_name_changes = 1, 0
        self.room = NO_ROOM
        self.draw_roll_jitter()

    @property
    def partition(self) -> TopicPartition:
        return self.folder.partition

    @property
    def log_end_offset(self) -> int:
        """The offset that the next record gets."""
        return self.segments.end_offset

    @property
    def last_stable_offset(self) -> int:
        """The offset before which every transaction is decided and replicated."""
        unstable = self.producers.first_unstable_offset
        return self.high_watermark if unstable is None else min(unstable, self.high_watermark)

    @property
    def size(self) -> int:
        """The bytes of all batches."""
        return self.segments.size

    # Appending

    def append_as_leader(
        self,
        data: WritableBuffer,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        guard: Guard | None = None,
    ) -> "Appended":
        """Give validated batches their offsets and this epoch, and append them.

        A batch that was appended before is not appended again; the answer is the first one.
        """
        self.folder.volume.require_online()
        if len(data) > self.config.segment_bytes:
            message = f"{len(data)} bytes do not fit a segment of {self.config.segment_bytes}"
            raise KafkaError(ErrorCode.RECORD_LIST_TOO_LARGE, message)
        batches = read_batches(data)
        repeated = self.producers.check_append(batches, origin, guard)
        if repeated is not None:
            return appending.appended_before(repeated)
        return appending.append_as_leader(self, data, batches, leader_epoch, now_ms)

    def append_batch(
        self,
        data: WritableBuffer,
        header: BatchHeader,
        *,
        leader_epoch: int,
        now_ms: int,
        guard: Guard | None = None,
    ) -> "Appended":
        """As leader, append one validated batch of a client; `header` is its header."""
        self.folder.volume.require_online()
        if header.producer_id != NO_PRODUCER_ID:
            repeated = self.producers.check_append([(header, None)], Origin.CLIENT, guard)
            if repeated is not None:
                return appending.appended_before(repeated)
        return appending.append_batch(self, data, header, leader_epoch, now_ms)

    def append_as_follower(
        self, data: ReadableBuffer, *, now_ms: int, batches: Sequence[Batch] | None = None
    ) -> "Appended":
        """Append batches with the offsets and epochs that the leader gave them.

        `batches` are those of `data`, where they have been read already.
        """
        self.folder.volume.require_online()
        if batches is None:
            batches = read_batches(data)
        require_rising(batches, self.segments.end_offset)
        return appending.append(self, data, batches, now_ms)

    def roll(self, *, now_ms: int) -> None:
        """Begin a new segment, unless the active one is empty."""
        with self.folder.volume.guard():
            if self.segments.active.size:
                appending.begin_segment(self, self.segments.end_offset, now_ms)

    def draw_roll_jitter(self) -> None:
        """Let the active segment roll somewhat earlier than those of other logs."""
        limit = min(self.config.segment_jitter_ms, self.config.segment_ms)
        self.roll_jitter_ms = self._shared.draw(limit) if limit else 0

    # Reading

    def read(
        self,
        start_offset: int,
        *,
        max_bytes: int,
        end_offset: int | None = None,
        at_least_one: bool = False,
    ) -> Fetched:
        """Find up to `max_bytes` of batches from `start_offset` on, wholly before `end_offset`.

        `end_offset` is the high watermark or the last stable offset for consumers; followers
        read without one. See `moldau.log.read`.
        """
        log_end_offset = self.segments.end_offset
        if not self.log_start_offset <= start_offset <= log_end_offset:
            message = f"{start_offset} is not in [{self.log_start_offset}, {log_end_offset}]"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)
        if end_offset is None or end_offset > log_end_offset:
            end_offset = log_end_offset
        self.folder.volume.require_online()
        try:
            return read.read(
                self.segments,
                start_offset,
                end_offset=end_offset,
                max_bytes=max_bytes,
                at_least_one=at_least_one,
            )
        except OSError as error:
            raise self.folder.volume.fail(error) from error

    def aborted_in(self, fetched: Fetched) -> list[AbortedTransaction]:
        """The aborted transactions among what was read."""
        if fetched.range is None:
            return []
        try:
            return read.aborted_in(self.segments, fetched)
        except OSError as error:
            raise self.folder.volume.fail(error) from error

    def batch_for_timestamp(
        self, timestamp: int, *, start_offset: int = 0
    ) -> timestamps.Candidate | None:
        """The batch with the first record whose timestamp is `timestamp` or later."""
        with self.folder.volume.guard():
            start = max(start_offset, self.log_start_offset)
            return timestamps.at_or_after(self.segments, timestamp, start_offset=start)

    def batch_of_largest_timestamp(self) -> timestamps.Candidate | None:
        """The batch with the first record that has the largest timestamp."""
        with self.folder.volume.guard():
            return timestamps.of_largest(self.segments, start_offset=self.log_start_offset)

    def offset_for_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first record whose timestamp is `timestamp` or later."""
        opening = Opening(Scratch())
        batch = self.batch_for_timestamp(timestamp)
        while batch is not None:
            found = batch.first(opening)
            if found is not None:
                return found
            batch = self.batch_for_timestamp(timestamp, start_offset=batch.header.next_offset)
        return None

    def offset_of_largest_timestamp(self) -> TimestampOffset | None:
        """The first record that has the largest timestamp."""
        batch = self.batch_of_largest_timestamp()
        return None if batch is None else batch.first(Opening(Scratch()))

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEnd:
        """Where an epoch ended here (KIP-101)."""
        return self.epochs.end_offset_for(leader_epoch, self.segments.end_offset)

    # Moving the bounds

    def settled_end_offset(self) -> int:
        """The end of what may be sent to others.

        Kafka syncs within the append where `flush.messages` asks for it, so that nothing is
        sent that a power loss could still take. Here it takes a moment, and is waited for.
        """
        end_offset = self.segments.end_offset
        if end_offset - self.recovery_point < self.config.flush_messages:
            return end_offset
        self._shared.sync_soon(self)
        return self.recovery_point

    def raise_high_watermark(self, offset: int) -> bool:
        """Move the high watermark up, at most to the log end offset; returns whether it moved."""
        end_offset = self.segments.end_offset
        offset = min(offset, end_offset)
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        self.producers.replicated_to(offset)
        return True

    def begin_epoch(self, leader_epoch: int) -> None:
        """Note that this broker leads from here on, even if it appends nothing."""
        with self.folder.volume.guard():
            self.epochs.assign(leader_epoch, self.segments.end_offset)

    def raise_log_start(self, offset: int) -> bool:
        """Delete the records before `offset`; their segments go with the next retention check.

        Raises OFFSET_OUT_OF_RANGE above the high watermark. Says whether the start moved.
        """
        if offset > self.high_watermark:
            message = f"cannot delete before {offset}, high watermark is {self.high_watermark}"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)
        if offset <= self.log_start_offset:
            return False
        with self.folder.volume.guard():
            self.log_start_offset = offset
            self.epochs.truncate_from_start(offset)
        return True

    def truncate_to(self, offset: int, *, now_ms: int) -> bool:
        """Drop everything from `offset` on; returns whether there was anything."""
        assert offset >= 0
        with self.folder.volume.guard():
            if offset >= self.segments.end_offset:
                # An epoch that began here but got no batch would contradict the next leader.
                self.epochs.cut(self.segments.end_offset)
                return False
            if offset < self.segments.first.base_offset:
                self._start_over(offset, now_ms)
                return True
            # The cut itself is not durable yet: the whole segment counts as unflushed.
            self._lower_recovery_point(self.segments.since(offset)[0].base_offset)
            # The last first: a crash in between must leave a log without a hole.
            while self.segments.active.base_offset > offset:
                self.doom([self.segments.remove_last()], now_ms=now_ms)
            self._end_at(self.segments.active.truncate_to(offset), now_ms)
        return True

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int) -> None:
        """Drop everything; the next record gets `offset`."""
        with self.folder.volume.guard():
            self._start_over(offset, now_ms)

    def _start_over(self, offset: int, now_ms: int) -> None:
        self._lower_recovery_point(min(offset, self.log_start_offset))
        while len(self.segments) > 1:
            self.doom([self.segments.remove_last()], now_ms=now_ms)
        self.doom([self.segments.active], now_ms=now_ms)
        segment = Segment.create(self.folder, offset, now_ms=now_ms)
        self.segments = Segments([segment], end_offset=offset)
        self.recovery_point = offset
        self.log_start_offset = offset
        self.high_watermark = offset
        self.epochs.clear()
        self._end_at(offset, now_ms)

    def _lower_recovery_point(self, offset: int) -> None:
        self.truncation_count += 1
        if offset < self.recovery_point:
            self.recovery_point = offset
            self._shared.save_recovery_points()

    def _end_at(self, end_offset: int, now_ms: int) -> None:
        """Bring all that is derived from the batches back to a smaller end."""
        self.note_names_changed()
        self.room = NO_ROOM
        self.segments.end_offset = end_offset
        self.recovery_point = min(self.recovery_point, end_offset)
        self.log_start_offset = min(self.log_start_offset, end_offset)
        self.high_watermark = min(self.high_watermark, end_offset)
        self.epochs.cut(end_offset)
        self.snapshots.remove(self.snapshots.after(end_offset))
        if len(self.producers):
            self.rebuild_producers(now_ms=now_ms)

    def rebuild_producers(self, *, now_ms: int) -> None:
        """Read the producer table back from the newest snapshot and the batches after it."""
        end_offset = self.segments.end_offset
        start_offset = replay.restore(
            self.producers,
            self.snapshots,
            bounds=(self.log_start_offset, end_offset),
            now_ms=now_ms,
            expiration_ms=self._shared.producer_expiration_ms,
        )
        replay.apply_batches(
            self.producers, self.segments, start_offset=start_offset, end_offset=end_offset
        )
        self.producers.replicated_to(self.high_watermark)

    # Getting rid of segments and of producers

    def drop_first_segments(self, count: int, *, now_ms: int) -> None:
        """Take out the oldest segments; the log begins with the next one."""
        with self.folder.volume.guard():
            for _ in range(count):
                self.doom([self.segments.remove_first()], now_ms=now_ms)
            self.note_names_changed()
            first = self.segments.first.base_offset
            if first > self.log_start_offset:
                self.log_start_offset = first
                self.epochs.truncate_from_start(first)

    def doom(
        self, segments: Sequence[Segment], *, now_ms: int, kept_snapshots: Collection[int] = ()
    ) -> None:
        """Rename the files of segments that are out of the log, to be removed later."""
        deadline_ms = now_ms + self.config.file_delete_delay_ms
        self._doomed.add(
            segments, self.snapshots, deadline_ms=deadline_ms, kept_snapshots=kept_snapshots
        )

    def note_names_changed(self) -> None:
        """Files were created or renamed: the next flush has to sync the directory."""
        self.has_changed = True
        self.name_changes += 1

    def next_deadline_ms(self) -> int | None:
        """When `expire` has something to return."""
        return self._doomed.next_deadline_ms()

    def expire(self, *, now_ms: int) -> list[str]:
        """Hand out the files whose time has come; the caller removes them, off the loop."""
        return self._doomed.take_due(now_ms=now_ms)

    def expire_producers(self, *, now_ms: int) -> None:
        """Forget producers that have been silent for long."""
        self.producers.expire(now_ms=now_ms, expiration_ms=self._shared.producer_expiration_ms)
