# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The shortest way of OffsetCommit: offsets without text, of partitions that are known.

This file runs as it stands and is also compiled as `_offset_commit`; `_offset_commit.pxd` then
gives its variables C types. Bytes come from the network, so every position is compared with the
end of the frame before it is used, in both forms.

One pass over the request writes both the batch of records for the offsets topic and the answer.
Whether the group takes the offsets is for its machine to say. Whatever is not plain in any way is
left to the handler of OffsetCommit; here a request is either answered as the handler would answer
it, or nothing has changed.
"""

from typing import TYPE_CHECKING

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.broker.handlers.offset_commit import EPOCHS_SINCE
from moldau.coordinator.group.messages import Committed, MemberIdentity
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.runtime.clock import Moment

if not cython.compiled:
    from moldau.log.words import (
        copy,
        read_int16,
        read_int32,
        read_int64,
        write_int16,
        write_int32,
        write_int64,
    )
    from moldau.records.memory import address, checksum_function, checksum_of, writable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.coordinator.group.groups import Groups
    from moldau.coordinator.shard import Shard
    from moldau.metadata.image import PartitionImage
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]
    Partitions = Mapping[int, PartitionImage]

API_KEY = 8
VERSION_MIN, VERSION_MAX = 6, 9  # the first that has the leader's epoch
INSTANCE_FROM = 7
FLEXIBLE_FROM = 8
FRAME_SIZE_MAX = 16_384
NAME_SIZE_MAX = 255
PARTITION_SIZE_MIN = 17
NULL, WRONG = -1, -2
HEADER_SIZE = 61
VALUE_SIZE = 24
# Of a record: what does not depend on names, its numbers as long as they can be here.
RECORD_SIZE_MAX = 64
KEY_VERSION, VALUE_VERSION = 1, 3
MAGIC = 2

CHECKSUM = checksum_function()
NEW_TUPLE = tuple.__new__


def write_varint(data: memoryview, position: int, value: int) -> int:
    """Write a number that is not negative in zigzag form; the position behind it."""
    value <<= 1
    while value >= 0x80:
        data[position] = value & 0x7F | 0x80
        value >>= 7
        position += 1
    data[position] = value
    return position + 1


def size_of_varint(value: int) -> int:
    """How many bytes `write_varint` writes."""
    value <<= 1
    size = 1
    while value >= 0x80:
        value >>= 7
        size += 1
    return size


class CommitExpress:
    """Reads requests one after the other; its fields are those of the last one."""

    def __init__(self, broker: "Broker", times: "RequestTimes", counters: "Counters") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self.times = times
        self.counters = counters

    def respond(self, client: "Client", frame: memoryview) -> bytearray | None:  # noqa: ARG002
        """The framed answer, or None if the request is not as plain as that."""
        broker = self.broker
        clock = broker.clock
        began_ns = clock.monotonic_ns()
        if len(frame) > FRAME_SIZE_MAX or not self.read_start(frame):
            return None
        requests = self.counters.get(self.version)
        if requests is None:
            return None
        self.now_ms = clock.now_ms()
        if not self.read_topics(frame):
            return None
        group_id = str(frame[self.group : self.group + self.group_size], "ascii")
        member_id = str(frame[self.member : self.member + self.member_size], "ascii")
        now = Moment(clock.monotonic_ms(), self.now_ms)
        try:
            shard = broker.groups.shards.of(group_id)
            if not shard.journal.is_alone or shard.is_compressing:
                return None
            machine = shard.machine
            identity = MemberIdentity(
                member_id, self.generation, None, self.version >= EPOCHS_SINCE
            )
            group = machine.group_to_commit(group_id, identity, now=now)
            self.store(shard, group.offsets.committed)
        except KafkaError:
            return None  # nothing was appended; the handler says why
        broker.groups.counts.committed_offsets += self.count
        requests.value += 1
        self.times.record_at_once(clock.monotonic_ns() - began_ns)
        return self.answer

    def store(self, shard: "Shard[Groups]", stored: dict[TopicPartition, Committed]) -> None:
        """Append the records, and have the group know what they say."""
        self.finish_batch()
        log_offset = shard.append_batch(memoryview(self.batch)[: self.batch_end])
        now_ms = self.now_ms
        for partition, (offset, leader_epoch) in self.offsets.items():
            stored[partition] = NEW_TUPLE(
                Committed, (offset, leader_epoch, "", now_ms, -1, log_offset)
            )
            log_offset += 1

    # Reading

    def read_start(self, frame: memoryview) -> bool:
        """Everything before the topics; False if anything is out of the ordinary."""
        data = address(frame)
        end = self.end = len(frame)
        if end < 10 or read_int16(data, 0) != API_KEY:
            return False
        version = self.version = read_int16(data, 2)
        if version < VERSION_MIN or version > VERSION_MAX:
            return False
        self.is_flexible = version >= FLEXIBLE_FROM
        self.correlation_id = read_int32(data, 4)
        self.position = 8
        if self.skip_client(data) == WRONG:
            return False
        self.group_size = self.read_name(data)
        self.group = self.position - self.group_size
        if self.group_size < 1 or self.position + 4 > end:
            return False
        self.generation = read_int32(data, self.position)
        self.position += 4
        self.member_size = self.read_name(data)
        self.member = self.position - self.member_size
        if self.member_size < 0:
            return False
        return version < INSTANCE_FROM or self.read_name(data) == NULL

    def skip_client(self, data: memoryview) -> int:
        """The client's name, which has its size in two bytes in every version."""
        size = read_int16(data, self.position)
        self.position += 2 + (size if size > 0 else 0)
        if size < NULL or self.position > self.end:
            return WRONG
        for position in range(10, self.position):
            if data[position] >= 0x80:
                return WRONG
        return self.skip_tags(data)

    def read_name(self, data: memoryview) -> int:
        """The size of a string of plain letters, which ends at the new position."""
        size = self.read_size(data, 2)
        if size == WRONG or size > NAME_SIZE_MAX:
            return WRONG
        if size == NULL:
            return NULL
        start = self.position
        if start + size > self.end:
            return WRONG
        for position in range(start, start + size):
            if data[position] >= 0x80:
                return WRONG
        self.position = start + size
        return size

    def read_size(self, data: memoryview, width: int) -> int:
        """How much follows: a number of `width` bytes, or a short one that counts from 1."""
        position = self.position
        if position + width + 2 > self.end:  # two more than it takes: something must follow
            return WRONG
        if self.is_flexible:
            size = data[position]
            self.position = position + 1
            if size >= 0x80:
                size = size & 0x7F | data[position + 1] << 7
                self.position = position + 2
                if data[position + 1] >= 0x80:
                    return WRONG
            return size - 1
        self.position = position + width
        size = read_int16(data, position) if width == 2 else read_int32(data, position)
        return size if size >= NULL else WRONG

    def skip_tags(self, data: memoryview) -> int:
        """Fields that nobody here knows are not skipped, but make a request the handler's."""
        if self.is_flexible:
            if self.position >= self.end or data[self.position] != 0:
                return WRONG
            self.position += 1
        return 0

    def read_topics(self, frame: memoryview) -> bool:
        """All topics, which are written to the batch and the answer on the way."""
        data = address(frame)
        topic_count = self.begin(data)
        if topic_count < 1:
            return False
        topics = self.broker.metadata.image.topics
        self.offsets: dict[TopicPartition, tuple[int, int]] = {}
        self.count = 0
        for _ in range(topic_count):
            before = self.position
            self.name_size = self.read_name(data)
            self.name = self.position - self.name_size
            if self.name_size < 1:
                return False
            self.reply(data, before, self.position)
            name = str(frame[self.name : self.position], "ascii")
            known = topics.get(name)
            if known is None or not self.read_partitions(data, name, known.partitions):
                return False
        if self.skip_tags(data) == WRONG or self.position != self.end:
            return False
        self.end_answer()
        return 0 < self.count == len(self.offsets)

    def read_partitions(self, data: memoryview, name: str, known: "Partitions") -> bool:
        """The partitions of a topic, whose name has just been read."""
        before = self.position
        partition_count = self.read_size(data, 4)
        if partition_count < 1:
            return False
        self.reply(data, before, self.position)
        for _ in range(partition_count):
            position = self.position
            if position + PARTITION_SIZE_MIN > self.end:
                return False
            index = read_int32(data, position)
            self.position = position + 16
            size = self.read_text_size(data)
            if index not in known or size not in (NULL, 0):
                return False
            if self.skip_tags(data) == WRONG:
                return False
            offset = read_int64(data, position + 4)
            leader_epoch = read_int32(data, position + 12)
            self.write_record(data, index, offset, leader_epoch)
            self.offsets[NEW_TUPLE(TopicPartition, (name, index))] = (offset, leader_epoch)
            self.reply_partition(index)
        if self.skip_tags(data) == WRONG:
            return False
        if self.is_flexible:
            self.reply_tags()
        return True

    def read_text_size(self, data: memoryview) -> int:
        """The size of the text beside an offset, of which none is plain."""
        if self.is_flexible:
            self.position += 1
            return data[self.position - 1] - 1
        if self.position + 2 > self.end:
            return WRONG
        self.position += 2
        return read_int16(data, self.position - 2)

    # Writing

    def begin(self, data: memoryview) -> int:
        """Room for the batch and the answer; how many topics there are."""
        partitions_max = self.end // PARTITION_SIZE_MIN + 1
        names_max = self.group_size + (NAME_SIZE_MAX if self.end > NAME_SIZE_MAX else self.end)
        self.batch = bytearray(HEADER_SIZE + partitions_max * (RECORD_SIZE_MAX + names_max))
        self.batch_end = HEADER_SIZE
        # An answer is shorter than what it answers, but for what stands before the topics.
        self.answer = bytearray(self.end + 32)
        start = 9 if self.is_flexible else 8
        self.answer_end = start + 4
        before = self.position
        topic_count = self.read_size(data, 4)
        if topic_count > 0:
            self.reply(data, before, self.position)
        return topic_count

    def reply(self, data: memoryview, start: int, end: int) -> None:
        """Answer with the same bytes."""
        copy(writable(self.answer), self.answer_end, data, start, end)
        self.answer_end += end - start

    def reply_partition(self, index: int) -> None:
        """Answer that an offset was stored."""
        answer = writable(self.answer)
        write_int32(answer, self.answer_end, index)
        write_int16(answer, self.answer_end + 4, 0)
        self.answer_end += 6
        if self.is_flexible:
            self.reply_tags()

    def reply_tags(self) -> None:
        """No fields but the known ones."""
        writable(self.answer)[self.answer_end] = 0
        self.answer_end += 1

    def end_answer(self) -> None:
        """Write what stands before the topics; the rest of the memory is zero already."""
        if self.is_flexible:
            self.reply_tags()
        answer = writable(self.answer)
        write_int32(answer, 0, self.answer_end - 4)
        write_int32(answer, 4, self.correlation_id)
        self.answer = self.answer[: self.answer_end]

    def write_record(self, data: memoryview, index: int, offset: int, leader_epoch: int) -> None:
        """One record of the offsets topic; see `coordinator/group/offset_codec.py`."""
        batch = writable(self.batch)
        key_size = 10 + self.group_size + self.name_size
        size = 4 + VALUE_SIZE + key_size + size_of_varint(self.count) + size_of_varint(key_size)
        position = write_varint(batch, self.batch_end, size)
        write_int16(batch, position, 0)  # attributes, and no later than the first record
        position = write_varint(batch, position + 2, self.count)
        position = write_varint(batch, position, key_size)
        write_int16(batch, position, KEY_VERSION)
        write_int16(batch, position + 2, self.group_size)
        position += 4
        copy(batch, position, data, self.group, self.group + self.group_size)
        position += self.group_size
        write_int16(batch, position, self.name_size)
        copy(batch, position + 2, data, self.name, self.name + self.name_size)
        position += 2 + self.name_size
        write_int32(batch, position, index)
        position = write_varint(batch, position + 4, VALUE_SIZE)
        write_int16(batch, position, VALUE_VERSION)
        write_int64(batch, position + 2, offset)
        write_int32(batch, position + 10, leader_epoch)
        write_int16(batch, position + 14, 0)  # no text
        write_int64(batch, position + 16, self.now_ms)
        batch[position + VALUE_SIZE] = 0  # no headers
        self.batch_end = position + VALUE_SIZE + 1
        self.count += 1

    def finish_batch(self) -> None:
        """Write the header; see `records/batch.py`."""
        batch = writable(self.batch)
        write_int64(batch, 0, 0)
        write_int32(batch, 8, self.batch_end - 12)
        write_int32(batch, 12, -1)
        batch[16] = MAGIC
        write_int16(batch, 21, 0)
        write_int32(batch, 23, self.count - 1)
        write_int64(batch, 27, self.now_ms)
        write_int64(batch, 35, self.now_ms)
        write_int64(batch, 43, -1)
        write_int16(batch, 51, -1)
        write_int32(batch, 53, -1)
        write_int32(batch, 57, self.count)
        checksum = checksum_of(CHECKSUM, batch, 21, self.batch_end - 21)
        write_int32(batch, 17, checksum - 2**32 if checksum >= 2**31 else checksum)
